"""A process that appends, for tests of several at once and of one that is killed: ``python -m ... MODE NAME SESSIONS``.

``mixed``: the short way from an event loop and ``writing`` from threads, on all sessions at once, until done.
``forever``: the short way until somebody ends it; prints ``[session, first, last, n]`` once it is told.
``die``: ends itself with SIGKILL inside of a group, when its rows are in the transaction and the commit is not.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence

import django
from django.db import connections

COUNT = 20
ROWS = 3


async def _mixed(name: str, sessions: Sequence[int]) -> None:
    from envelopes.log.append import writing
    from envelopes.log.backends.port import Append, NewRow
    from envelopes.log.commits import committer

    async def short(session: int) -> None:
        for n in range(COUNT):
            data = {"by": f"{name} short", "n": n}
            await committer.append(Append(session, None, [NewRow("note", data)] * ROWS))

    def long() -> None:
        for n in range(COUNT):
            for session in sessions:
                with writing(session) as writer:
                    for _ in range(ROWS):
                        writer.add("note", {"by": f"{name} long", "n": n})
        connections.close_all()

    await asyncio.gather(asyncio.to_thread(long), *(short(session) for session in sessions))
    assert committer.stop()


async def _forever(name: str, sessions: Sequence[int]) -> None:
    from envelopes.log.backends.port import Append, NewRow
    from envelopes.log.commits import committer

    async def short(session: int) -> None:
        n = 0
        while True:
            data = {"by": f"{name} {session}", "n": n}
            stored = await committer.append(Append(session, None, [NewRow("note", data)] * ROWS))
            sys.stdout.write(json.dumps([session, stored.first, stored.last, n]) + "\n")
            sys.stdout.flush()
            n += 1

    await asyncio.gather(*(short(session) for session in sessions))


def _die(name: str, sessions: Sequence[int]) -> None:
    from envelopes.log.backends import backend_for, postgres, sqlite
    from envelopes.log.backends.port import Append, NewRow

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    backend = backend_for()
    backend.write([Append(sessions[0], None, [NewRow("note", {"by": name, "n": 0})])])
    if isinstance(backend, sqlite.SqliteBackend):
        backend._connected().connection.create_function("die", 0, die)
        sqlite.COMMIT = "SELECT die()"
    else:
        assert isinstance(backend, postgres.PostgresBackend)
        backend.close()
        postgres._STATEMENTS[b"beach_commit"] = b"SELECT pg_sleep(0.6)"
        backend._connected()
        threading.Timer(0.3, die).start()
    backend.write(
        [Append(session, None, [NewRow("note", {"by": name, "n": 1})] * ROWS) for session in sessions]
    )


def main(mode: str, name: str, *words: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "beachsite.settings.test"
    django.setup()
    sessions = [int(word) for word in words]
    if mode == "die":
        _die(name, sessions)
    else:
        asyncio.run({"mixed": _mixed, "forever": _forever}[mode](name, sessions))


if __name__ == "__main__":
    main(*sys.argv[1:])
