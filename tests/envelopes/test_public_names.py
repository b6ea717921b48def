"""``envelopes`` names what an agent is made of: each name leads to one thing, for Python and for type checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import envelopes

SOURCE = ast.parse(Path(envelopes.__file__).read_text(encoding="utf-8"))
TYPED = {
    alias.name: node.module or ""
    for node in ast.walk(SOURCE)
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("envelopes.")
    for alias in node.names
}


@pytest.mark.parametrize("name", envelopes.__all__)
def test_a_name_is_what_type_checkers_take_it_for(name: str) -> None:
    assert getattr(envelopes, name) is getattr(import_module(TYPED[name]), name)


def test_there_are_no_others() -> None:
    assert sorted(TYPED) == sorted(envelopes.__all__)
    assert set(envelopes.__all__) <= set(dir(envelopes))
    with pytest.raises(AttributeError, match="module 'envelopes' has no attribute 'Actr'"):
        envelopes.Actr  # type: ignore[attr-defined]  # noqa: B018


def test_it_can_be_imported_before_there_are_settings() -> None:
    """Django imports the package of an application first, and a name of it may be asked for in the settings."""
    code = "import sys, envelopes; assert 'django' not in sys.modules; envelopes.NotFound"

    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
