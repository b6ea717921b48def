"""The threat model names a test for every line, and each of them exists."""

from __future__ import annotations

import ast
import re

import pytest

from beachsite.suite import ROOT

TEXT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
COVERED = TEXT.split("## What is not covered")[0]
LINES = [line for line in COVERED.splitlines() if line.startswith("- ")]
NODE = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)+)`$")


@pytest.mark.parametrize("line", LINES)
def test_every_line_ends_with_a_test_that_exists(line: str) -> None:
    found = NODE.search(line)
    assert found is not None, "the line names no test"

    body = ast.parse((ROOT / found[1]).read_text(encoding="utf-8")).body
    for name in found[2].split("::")[1:]:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        named = [node for node in body if isinstance(node, kinds) and node.name == name]
        assert named, f"{name} is not in {found[1]}"
        assert name.startswith(("test_", "Test"))
        body = named[0].body


def test_no_test_is_named_in_passing_only() -> None:
    assert len(LINES) > 50
    assert COVERED.count("`tests/") - 1 == len(LINES)
