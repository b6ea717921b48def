"""Finds the shared test data (specification suites, cases) that lies outside the project (decision D38).

`SHARED` is the folder, or None where it is absent; mark tests that read it with `needs_shared`. The folder is
`$BEACH_SHARED`, by default `../shared` beside the repository.
"""

from __future__ import annotations

import importlib.util
import json
import os
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _find() -> Path | None:
    folder = Path(os.environ.get("BEACH_SHARED", "../shared"))
    folder = folder if folder.is_absolute() else ROOT / folder
    return folder.resolve() if (folder / "spec").is_dir() and (folder / "cases").is_dir() else None


SHARED: Path | None = _find()

ABSENT = "shared data not found: set BEACH_SHARED to the folder that holds spec/ and cases/"
needs_shared = pytest.mark.skipif(SHARED is None, reason=ABSENT)


def fold_skip(report: pytest.TestReport) -> None:
    """Skipped for want of shared data: told at one place, or the summary repeats one reason for dozens of lines."""
    if SHARED is not None or not report.skipped or not isinstance(report.longrepr, tuple):
        return
    reason = report.longrepr[2].removeprefix("Skipped: ")
    # Cases that are read as parameters are none where there is nothing to read.
    if reason == ABSENT or reason.startswith("shared:") or "got empty parameter set" in reason:
        report.longrepr = (str(ROOT / "tests" / "shared.py"), 1, f"Skipped: {ABSENT}")
        # By this key pytest would tell marked tests apart from others.
        report.keywords.pop("skip", None)


@cache
def caselib() -> ModuleType:
    """The module `cases/caselib.py`: case loader, generators and the XSS oracle."""
    assert SHARED is not None
    spec = importlib.util.spec_from_file_location("beach_caselib", SHARED / "cases" / "caselib.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def case(path: str) -> dict[str, Any]:
    """One case file, for instance `case("limits/lim-patch-copy-bomb.yaml")`."""
    assert SHARED is not None
    loaded: dict[str, Any] = caselib().load_case(SHARED / "cases" / path)
    return loaded


def variants(folder: str) -> list[Any]:
    """Every variant of every case below `cases/<folder>`, as pytest params (input, expected); [] where absent."""
    if SHARED is None:
        return []
    library = caselib()
    return [
        pytest.param(given, expected, id=f"{loaded['id']}:{name}" if name else loaded["id"])
        for loaded in library.load_cases(SHARED / "cases" / folder)
        for name, given, expected in library.variants(loaded)
    ]


def json_file(path: str) -> Any:
    """A JSON file below the shared folder."""
    assert SHARED is not None
    return json.loads((SHARED / path).read_text(encoding="utf-8"))


def xss_payloads(*places: str) -> list[Any]:
    """Entries of `cases/xss.jsonl` for these places (all without any) as pytest params; [] where absent."""
    if SHARED is None:
        return []
    entries = caselib().load_xss(SHARED / "cases" / "xss.jsonl")
    return [pytest.param(e, id=e["id"]) for e in entries if not places or e["where"] in places]
