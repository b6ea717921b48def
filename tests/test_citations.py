"""Marks in comments and docstrings (D24, R6, "rulebook section 12") stand in docs/decisions.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beachsite.suite import ROOT

DECISIONS = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
MARKS = set(re.findall(r"^\| ([DR]\d+) \|", DECISIONS, re.MULTILINE))
CITED = re.compile(r"(?<![\w#'\"/-])([DR]\d{1,2})(?![\w'\"-])")
SECTION = re.compile(r"rulebook,? sections? (\d+)(?:\.\d+)?(?: to (\d+))?")


def _sources() -> list[Path]:
    folders = ("a2ui", "envelopes", "beachsite", "static/client", "docs")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    return sorted(
        path
        for path in found
        if path.suffix in (".py", ".js", ".md") and path.name not in ("decisions.md", "icons.py")
    )


def _sections(heading: str) -> set[int]:
    table = DECISIONS.split(heading)[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
    return {int(number) for row in rows for number in row.split(",")}


@pytest.mark.parametrize("path", _sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_mark_is_explained(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    rulebook = {
        number
        for first, last in SECTION.findall(text)
        for number in range(int(first), int(last or first) + 1)
    }

    assert set(CITED.findall(text)) - MARKS == set()
    assert rulebook - _sections("## The rulebook") == set()


def test_the_list_has_no_mark_twice() -> None:
    marks = re.findall(r"^\| ([DR]\d+) \|", DECISIONS, re.MULTILINE)

    assert sorted(marks) == sorted(set(marks))
