"""The commands: the sweep by hand, and a process that only runs turns."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from envelopes.models import Approval, Turn
from tests import factories, nursery

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
def worker(data: Path, demo_data: Path, *words: str, **more: str) -> Iterator[tuple[nursery.Process, Path]]:
    """``run_worker`` in a process of its own, on data of its own; with what it says."""
    environ = own(data) | {"BEACH_SCRIPT_PACE": "0"} | more
    shutil.copytree(demo_data, data)
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
    made = nursery.run(["shell", "-v", "0", "-c", script], environ)
    assert made.returncode == 0, made.stderr
    said = data.with_name("said")
    with said.open("wb") as out:
        process = nursery.start(["run_worker"], environ, out)
    try:
        yield process, said
    finally:
        process.kill()
        process.wait()


def own(data: Path) -> dict[str, str]:
    """The environment of a process on ``data``."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return environ | {"BEACH_DATA": str(data), "BEACH_NO_BOOTSTRAP": "1"}


def statuses(data: Path) -> list[str]:
    import sqlite3

    with contextlib.closing(sqlite3.connect(data / "beach.sqlite3")) as connection:
        return [status for (status,) in connection.execute("SELECT status FROM envelopes_turn")]


TOKEN = "t0ken"


def _metrics(port: int, token: str = TOKEN, path: str = "/metrics", method: str = "GET") -> tuple[int, str]:
    """What a worker answers to who brings ``token``."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request(method, path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.mark.faults
def test_run_worker_runs_turns_and_tells_of_them_until_it_is_told_to_stop(
    tmp_path: Path, demo_data: Path
) -> None:
    metrics = {"BEACH_METRICS_TOKEN": TOKEN, "BEACH_WORKER_METRICS": "127.0.0.1:0"}
    with worker(tmp_path / "data", demo_data, **metrics) as (process, said):
        deadline = timezone.now() + timedelta(seconds=30)
        while statuses(tmp_path / "data") != ["settled"] and timezone.now() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
        port = int(said.read_text().splitlines()[0].rpartition(" ")[2].rstrip("."))
        status, told = _metrics(port)
        refused = [
            _metrics(port, token="")[0],
            _metrics(port, token="wrong")[0],
            _metrics(port, path="/")[0],
            _metrics(port, method="POST")[0],
        ]
        # Whoever is connected and says nothing holds nothing up.
        with socket.create_connection(("127.0.0.1", port)):
            process.send_signal(signal.SIGTERM)
            process.wait(20)

    _, began, *_, ended = said.read_text().splitlines()
    assert "runs turns" in began and "its leases are free" in ended
    assert statuses(tmp_path / "data") == ["settled"]
    assert process.returncode == 0
    assert "Traceback" not in said.read_text()
    assert status == 200 and 'beach_turns_total{actor="sally",ended="complete"} 1.0' in told
    assert "process_resident_memory_bytes" in told, "what it says of itself too"
    assert refused == [401, 401, 404, 405]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("address", "token", "says"),
    [
        ("127.0.0.1:9464", "", "need BEACH_METRICS_TOKEN"),
        ("nowhere", "t0ken", "'nowhere' is not an address for metrics"),
        ("127.0.0.1:70000", "t0ken", "is not an address"),
        ("127.0.0.1:{taken}", "t0ken", "Address already in use"),
    ],
)
def test_a_worker_that_cannot_tell_them_does_not_start(
    address: str, token: str, says: str, settings: Any
) -> None:
    settings.BEACH_METRICS_TOKEN = token
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CommandError, match=says):
        call_command("run_worker", metrics=address.format(taken=taken.getsockname()[1]))


@pytest.mark.parametrize(
    "command", ["beach peer list", "beach peer add desk --scopes chat", "expire_approvals", "run_worker"]
)
def test_a_command_says_in_a_sentence_that_there_are_no_tables(command: str, tmp_path: Path) -> None:
    done = nursery.run(command.split(), own(tmp_path), timeout=120)

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line == (
        f"CommandError: The database {tmp_path}/beach.sqlite3 lacks tables of Beach: make them with manage.py migrate."
        " Where you mean the one of demo --data DIR, set BEACH_DATA=DIR instead."
    )


def test_what_needs_no_tables_runs_without(tmp_path: Path) -> None:
    told = nursery.run(["beach", "registries"], own(tmp_path), timeout=120)
    assert told.returncode == 0
    assert told.stdout.startswith("part type: ")
