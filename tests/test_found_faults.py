"""Every fault that hard use of the first release found leaves a test named after it."""

from __future__ import annotations

import re

from tests.shared import ROOT, SHARED, needs_shared

ROW = re.compile(r"^\| ([XSPDE]\d+) \|", re.MULTILINE)
LATER = {"E10", "D2", "D3"}
"""Those that belong to issues which are still open."""


@needs_shared
def test_each_fault_has_a_test_of_its_name() -> None:
    assert SHARED is not None
    found = set(ROW.findall((SHARED / "findings" / "faults.md").read_text(encoding="utf-8")))
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = {
        name.upper() for name in re.findall(r"^ *(?:async )?def test_([xspde]\d+)_", tests, re.MULTILINE)
    }
    assert len(found) > 50
    assert not found - named - LATER
