"""``beach new-agent`` writes an application, or says why it cannot. That it works a new project shows in the browser
(tests/browser/test_library.py)."""

from __future__ import annotations

import ast
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from envelopes.management.commands.beach import Command


def test_it_writes_an_application_and_says_what_is_left_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = StringIO()
    call_command("beach", "new-agent", "new_shop", stdout=out)

    written = {file.name: file.read_text() for file in (tmp_path / "new_shop").iterdir()}
    assert set(written) == {"__init__.py", "apps.py", "beach.py", "tests.py"}
    for text in written.values():
        ast.parse(text)
    assert 'name="new_shop"' in written["beach.py"] and "class NewShopConfig" in written["apps.py"]
    assert "Add 'new_shop' to INSTALLED_APPS (docs/agents.md shows where" in out.getvalue()


def test_a_first_agent_is_written_without_a_warning_that_there_is_none() -> None:
    parser = Command().create_parser("manage.py", "beach")

    assert parser.parse_args(["new-agent", "shop"]).skip_checks
    assert not parser.parse_args(["prompt", "shop"]).skip_checks


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("sally", "An agent is called 'sally' already"),
        ("Sally", "An agent is called 'sally' already"),
        ("class", "is a word of Python's"),
        ("None", "is a word of Python's"),
        ("auth", "An application is labelled 'auth' already"),
        ("json", "conflicts with the name of an existing Python module"),
        ("my-shop", "is not a valid app name"),
        ("_shop", "is not a name for an actor"),
        ("shop.one", "is not a valid app name"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_nothing_is_written(
    name: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=told):
        call_command("beach", "new-agent", name)
    assert list(tmp_path.iterdir()) == []
