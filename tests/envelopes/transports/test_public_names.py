"""Whoever writes a transport needs little: those of the tests are small and know public names only."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

PUBLIC = (
    "envelopes.access",
    "envelopes.delivery",
    "envelopes.errors",
    "envelopes.intake",
    "envelopes.protocol.rows",
    "envelopes.registries.transports",
    "envelopes.session_state",
)
"""What docs/architecture.md tells whoever writes a transport."""

TRANSPORTS = sorted(Path(__file__).parent.glob("*/transport.py"), key=str)


def test_there_is_a_streaming_and_a_buffered_one() -> None:
    assert [path.parent.name for path in TRANSPORTS] == ["callers", "plain"]


@pytest.mark.parametrize("path", TRANSPORTS, ids=lambda path: path.parent.name)
def test_it_is_small_and_knows_public_names_only(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    imported = [
        (node.module or "", alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("envelopes")
        for alias in node.names
    ]
    reached = [
        node.attr for node in nodes if isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr)
    ]

    assert len(source.splitlines()) < 100
    assert reached == []
    assert imported
    for module, name in imported:
        assert module in PUBLIC, module
        assert not name.startswith("_"), name
        assert name in getattr(import_module(module), "__all__", [name]), name
