"""The commands: the sweep by hand, and a process that only runs turns."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from beachsite.suite import ROOT
from envelopes.models import Approval, Turn
from tests import factories

FOREIGN = ("DJANGO_", "BEACH_", "DATABASE_URL", "REDIS_URL", "ANTHROPIC_")
"""What the environment of a process with data of its own must not bring."""


def run(command: str) -> str:
    out = StringIO()
    call_command(command, stdout=out, no_color=True)
    return out.getvalue()


@pytest.mark.django_db
def test_expire_approvals_prints_how_many() -> None:
    session = factories.make_session()
    approvals = [factories.make_approval(session, expires_after=3600) for _ in range(3)]
    said = [run("expire_approvals")]
    for due in (approvals[:1], approvals[1:]):
        past = timezone.now() - timedelta(seconds=1)
        Approval.objects.filter(pk__in=[approval.pk for approval in due]).update(expires_at=past)
        said.append(run("expire_approvals"))

    assert [line.strip() for line in said] == [
        "No approval has expired.",
        "1 approval has expired. Nothing of it was run.",
        "2 approvals have expired. Nothing of it was run.",
    ]
    assert set(Turn.objects.values_list("status", flat=True)) == {"queued"}


@contextlib.contextmanager
def worker(data: Path) -> Iterator[subprocess.Popen[str]]:
    """``run_worker`` in a process of its own, on data of its own."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    environ |= {"BEACH_DATA": str(data), "BEACH_NO_BOOTSTRAP": "1", "BEACH_SCRIPT_PACE": "0"}
    command = [sys.executable, "manage.py"]
    subprocess.run([*command, "migrate", "-v", "0"], cwd=ROOT, env=environ, check=True)
    script = (
        "from envelopes.access import Principal\n"
        "from envelopes.testing import create_session\n"
        "from envelopes.log.append import writing\n"
        "from envelopes.turns.lifecycle import open_turn\n"
        "session = create_session(Principal(owner_key='k' * 64, name='Ada'), 'sally')\n"
        "with writing(session.pk) as writer:\n"
        "    writer.add('message', {'text': 'Hello', 'name': 'Ada'})\n"
        "    open_turn(writer, {'kind': 'message', 'text': 'Hello', 'dataModel': None})\n"
    )
    subprocess.run([*command, "shell", "-v", "0", "-c", script], cwd=ROOT, env=environ, check=True)
    process = subprocess.Popen(
        [*command, "run_worker"],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def statuses(data: Path) -> list[str]:
    import sqlite3

    with contextlib.closing(sqlite3.connect(data / "beach.sqlite3")) as connection:
        return [status for (status,) in connection.execute("SELECT status FROM envelopes_turn")]


@pytest.mark.faults
def test_run_worker_runs_turns_until_it_is_told_to_stop(tmp_path: Path) -> None:
    with worker(tmp_path / "data") as process:
        assert process.stdout is not None
        began = process.stdout.readline()
        deadline = timezone.now() + timedelta(seconds=30)
        while statuses(tmp_path / "data") != ["settled"] and timezone.now() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)

    assert "runs turns" in began and "its leases are free" in out
    assert statuses(tmp_path / "data") == ["settled"]
    assert process.returncode == 0
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "command", ["beach peer list", "beach peer add desk --scopes chat", "expire_approvals", "run_worker"]
)
def test_a_command_says_in_a_sentence_that_there_are_no_tables(command: str, tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    environ |= {"BEACH_DATA": str(tmp_path), "BEACH_NO_BOOTSTRAP": "1"}
    done = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        check=False, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line == (
        f"CommandError: The database {tmp_path}/beach.sqlite3 lacks tables of Beach: make them with manage.py migrate."
        " Where you mean the one of demo --data DIR, set BEACH_DATA=DIR instead."
    )


def test_what_needs_no_tables_runs_without(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    environ |= {"BEACH_DATA": str(tmp_path), "BEACH_NO_BOOTSTRAP": "1"}
    told = subprocess.run(
        [sys.executable, "manage.py", "beach", "registries"],
        check=True, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert told.stdout.startswith("part type: ")
