"""Commands that are read by another program (``manage.py beach settings | head``)."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from a2ui.management.piping import ENDED, PipedCommand
from beachsite.suite import ROOT

OURS = ("a2ui", "envelopes", "beachsite")
NOT_ITS_OWN = "test"
"""The command that is pytest."""


def test_all_of_our_commands_may_be_piped() -> None:
    ours = {name: app for name, app in get_commands().items() if app in OURS and name != NOT_ITS_OWN}

    assert {"a2ui", "beach", "demo", "serve", "run_worker", "expire_approvals"} <= set(ours)
    for name, app in ours.items():
        assert isinstance(load_command_class(app, name), PipedCommand), name
    assert import_module("beachsite.management.commands.test")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words", ["beach settings", "beach registries", "beach prompt sally", "a2ui catalog"]
)
def test_one_whose_reader_has_gone_ends_without_a_word(words: str, unbuffered: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    environ = {**os.environ, "BEACH_DATA": str(tmp_path), "PYTHONUNBUFFERED": unbuffered}
    try:
        ran = subprocess.run(
            [sys.executable, "manage.py", *words.split()],
            check=False,
            cwd=ROOT,
            env=environ,
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    finally:
        os.close(writer)

    assert (ran.stderr, ran.returncode) == (b"", ENDED)


def test_a_pipe_of_somebody_else_that_breaks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Command(PipedCommand):
        def handle(self, *args: object, **options: object) -> None:
            raise BrokenPipeError("the database")

    with pytest.raises(BrokenPipeError, match="the database"):
        Command().run_from_argv(["manage.py", "one", "--skip-checks"])
