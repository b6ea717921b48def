"""Operations are made in one module, and the page's own code names the same letters."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from a2ui import ops
from beachsite.suite import ROOT

MADE = {
    "REPLACE": ops.replace("a1", "<p></p>"),
    "TEXT": ops.text("a1", "Two"),
    "INSERT": ops.insert("a1", "afterend", "<p></p>"),
    "MOVE": ops.move("a1", "a2", "a0"),
    "REMOVE": ops.remove("a1"),
    "MORPH": ops.morph("a1", "<p></p>"),
}


def test_pages_read_the_letters_that_are_written() -> None:
    text = (ROOT / "static" / "client" / "ops.js").read_text(encoding="utf-8")

    read = dict(re.findall(r"export const (\w+) = '(\w)';", text))

    assert read == {name: op[0] for name, op in MADE.items()}


def test_what_moves_goes_behind_something_or_to_the_front() -> None:
    assert ops.move("a1", "a2", "a0") == ["m", "a1", "a2"]
    assert ops.move("a1", "", "a0") == ["m", "a1", "^a0"]


def test_nobody_else_writes_the_letters() -> None:
    letters = {op[0] for op in MADE.values()}
    files = [file for package in ("a2ui", "envelopes") for file in (ROOT / package).rglob("*.py")]

    assert {_file(file) for file in files if _writes(file, letters)} == {"a2ui/ops.py"}


def _file(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _writes(file: Path, letters: set[str]) -> bool:
    return any(
        isinstance(node, ast.List)
        and len(node.elts) > 1
        and isinstance(node.elts[0], ast.Constant)
        and node.elts[0].value in letters
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )
