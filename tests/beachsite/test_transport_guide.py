"""docs/transports.md shows a transport that is tested: that of the application in tests/consumer."""

from __future__ import annotations

import re

from beachsite.suite import ROOT


def test_the_transport_of_the_guide_is_the_one_that_is_tested() -> None:
    guide = (ROOT / "docs" / "transports.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert shown == (ROOT / "tests" / "consumer" / "transport.py").read_text(encoding="utf-8")


def test_the_guide_names_what_the_transport_imports() -> None:
    guide = (ROOT / "docs" / "transports.md").read_text(encoding="utf-8").split("A door imports from")[1]
    source = (ROOT / "tests" / "consumer" / "transport.py").read_text(encoding="utf-8")
    named = {name.removeprefix("envelopes.") for name in re.findall(r"`([\w.]+)`", guide)}
    assert set(re.findall(r"^from envelopes\.([\w.]+) import", source, re.MULTILINE)) <= named
