"""Appending to the log beside SQL by hand: ``python -m tests.bench.commits [--json]``.

Ratios of CPU time of this process within one run, on SQLite and, where there is a server, on PostgreSQL; microseconds
are for information. What the database's own process uses is not in them.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import django
import psycopg
from psycopg import sql

from tests.bench.floors import ROOT, row_floor
from tests.bench.report import JSON_FLAG, Target, show
from tests.bench.timing import in_turn, per_call
from tests.needs import POSTGRES

SECONDS = 8.0
INSIDE = "--inside"
MANY = 50
DATA = {
    "part": {
        "data": {
            "messages": [
                {
                    "version": "v0.9",
                    "updateDataModel": {
                        "surfaceId": "bench",
                        "path": "/value",
                        "value": "a number and a word",
                    },
                }
            ]
        },
        "metadata": {"partType": "a2ui-surface"},
    },
    "turnState": "awaiting",
}


def measure(name: str) -> list[Target]:
    """All rows for the database that Django is set up for."""
    from django.core.management import call_command
    from django.db import connection

    from envelopes.log.append import JobFence, writing
    from envelopes.log.backends import backend_for
    from envelopes.log.backends.port import Append, NewRow
    from envelopes.log.commits import Committer
    from envelopes.models import Session, ToolCall, Turn

    call_command("migrate", verbosity=0)
    fences = {}
    for _ in range(MANY):
        session = Session.objects.create(actor="bench")
        turn = Turn.objects.create(session=session, number=1, actor="bench", status="settled")
        call = ToolCall.objects.create(
            session=session, turn=turn, call_id="x", name="x", state="running", attempt=1
        )
        fences[session.pk] = JobFence(call.pk, 1)
    sessions = list(fences)
    raw, text = connection.connection, json.dumps(DATA)
    backend, committer, loop = backend_for(), Committer(), asyncio.new_event_loop()

    def append(session: int) -> Append:
        return Append(session, fences[session], [NewRow("part", DATA, "a2ui-surface", "bench", 1)])

    def by_hand(some: Sequence[int]) -> None:
        for outcome in backend.write([append(session) for session in some]):
            if isinstance(outcome, Exception):
                raise outcome

    def committed(some: Sequence[int]) -> None:
        async def all_of_them() -> None:
            await asyncio.gather(*(committer.append(append(session)) for session in some))

        loop.run_until_complete(all_of_them())

    def through_orm() -> None:
        with writing(sessions[0], fence=fences[sessions[0]]) as writer:
            writer.add("part", DATA, part_type="a2ui-surface", actor="bench")

    one = sessions[:1]
    runs: list[tuple[Callable[[], object], int]] = [
        (row_floor(raw, one, text), 40),
        (row_floor(raw, sessions, text), 4),
        (partial(by_hand, one), 40),
        (partial(by_hand, sessions), 4),
        (partial(committed, one), 40),
        (partial(committed, sessions), 4),
        (through_orm, 20),
    ]
    taken = in_turn([partial(per_call, run, calls) for run, calls in runs], SECONDS)
    committer.stop()
    backend.close()
    loop.close()
    single, fifty, alone, group, told, told_group, orm = (
        seconds * 1e6 / (MANY if place in (1, 3, 5) else 1) for place, seconds in enumerate(taken)
    )

    def row(what: str, value: float, floor: float, unit: str, target: float) -> Target:
        about = f"{value:,.0f} us against {floor:,.0f} us"
        return Target.at_most(f"{name}: {what}", value / floor, unit, target, about)

    own, shared = "x row in a transaction of its own", "x row"
    return [
        row("one append, backend", alone, single, own, 1.5),
        row("one append, event loop to event loop", told, single, own, 3),
        row("one append, writing()", orm, single, own, 40),
        row("each of fifty, backend", group, fifty, shared, 1.5),
        row("each of fifty, event loop to event loop", told_group, fifty, shared, 3),
    ]


@contextmanager
def _databases() -> Iterator[dict[str, str]]:
    """Empty databases by name: the URL of each."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"SQLite": f"sqlite:///{folder}/bench.sqlite3"}
        try:
            server = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=3)
        except psycopg.OperationalError:
            sys.stderr.write("No PostgreSQL: set BEACH_TEST_POSTGRES.\n")
            yield found
            return
        name = sql.Identifier(f"beach_commits_{uuid.uuid4().hex[:8]}")
        with server:
            server.execute(sql.SQL("CREATE DATABASE {}").format(name))
            try:
                yield found | {"PostgreSQL": urlsplit(POSTGRES)._replace(path=f"/{name._obj[0]}").geturl()}
            finally:
                server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def main() -> int:
    """Prints all rows."""
    if INSIDE in sys.argv:
        django.setup()
        sys.stdout.write(show(measure(sys.argv[-1]), as_json=True))
        return 0
    targets: list[dict[str, Any]] = []
    with _databases() as databases, tempfile.TemporaryDirectory() as data:
        for name, url in databases.items():
            environ = os.environ | {
                "DATABASE_URL": url,
                "BEACH_DATA": data,
                "DJANGO_SETTINGS_MODULE": "beachsite.settings.local",
            }
            command = [sys.executable, "-m", "tests.bench.commits", INSIDE, name]
            printed = subprocess.run(
                command, cwd=ROOT, env=environ, capture_output=True, text=True, check=True
            ).stdout
            targets += json.loads(printed)["targets"]
    sys.stdout.write(show([Target(**target) for target in targets], as_json=JSON_FLAG in sys.argv[1:]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
