"""The poll: rows that another process wrote show without a message, at the latest after half a second (D46)."""

from __future__ import annotations

import asyncio
import logging

from django.db import connection

from envelopes.database_threads import read_beside_sessions
from envelopes.log.doorbell import Doorbell, doorbell
from envelopes.models import by_hand
from envelopes.tasks import end

logger = logging.getLogger(__name__)

SECONDS = 0.5
END_SECONDS = 1.0
MOST_ROWS = 1000
"""So many new rows are read in one look. Where there are more, as after an import, each conversation is asked where it
stands."""

_NEWEST = "SELECT id, session_id, seq FROM envelopes_event ORDER BY id DESC LIMIT 1"
_SINCE = "SELECT id, session_id, seq FROM envelopes_event WHERE id >= %s ORDER BY id LIMIT %s"
_STANDING = "SELECT id, last_seq FROM envelopes_session WHERE id {among}"

Newest = tuple[int, int, int]
"""The primary key of a row, that of its session, and its number there."""


class Poll:
    """Rings sessions that somebody here watches and that have grown without a ring."""

    def __init__(self, bell: Doorbell = doorbell) -> None:
        self.bell = bell
        self._task: asyncio.Task[None] | None = None
        self._seen: dict[int, int] = {}
        # What the connection of the poll saw last; None where that is not known.
        self._version: tuple[object, int] | None = None
        self._newest: tuple[object, Newest] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            await end([self._task], seconds=END_SECONDS)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            if not self.bell.watched():
                self._seen.clear()
                self._newest = None
                continue
            try:
                grown = await read_beside_sessions(self._grown)
            except asyncio.CancelledError:
                raise
            except Exception:
                logger.exception("Polling the log failed; it goes on.")
                # What changed is not known to be seen.
                self._version = self._newest = None
                continue
            for session, upto in grown.items():
                self.bell.ring(session, upto=upto, relayed=True)

    def _grown(self) -> dict[int, int | None]:
        """The sessions that stand otherwise than before, each with its last row."""
        if connection.vendor != "sqlite":
            return self._compared()
        if not self._changed():
            return {}
        came = self._came()
        return self._compared() if came is None else came

    def _compared(self) -> dict[int, int | None]:
        # Asked only now: who watched, and read the log, before a row came that was looked at just above is among them.
        among, given = by_hand.among(self.bell.watched())
        with connection.cursor() as cursor:
            cursor.execute(_STANDING.format(among=among), [given])
            last: dict[int, int] = dict(cursor.fetchall())
        seen, self._seen = self._seen, last
        # Also what has shrunk, when a backup was restored: its next row may have a number that was seen before.
        return {
            pk: seq if seq > seen.get(pk, -1) else None for pk, seq in last.items() if seq != seen.get(pk, -1)
        }

    def _changed(self) -> bool:
        """Whether another connection has committed; a few microseconds, so that idle servers stay idle.

        The number means something within one connection only.
        """
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA data_version")
            version = (connection.connection, int(cursor.fetchall()[0][0]))
        changed = version != self._version
        self._version = version
        return changed

    def _came(self) -> dict[int, int | None] | None:
        """The sessions of which rows have come, whoever wrote them, each with the last; None where that is not known.
        While something streams its text is saved again and again, which is a commit and no row.

        SQLite only, where one writes at a time: what has the highest key is what was committed last.
        """
        was, self._newest = self._newest, None
        with connection.cursor() as cursor:
            if was is None or was[0] is not connection.connection:
                rows = cursor.execute(_NEWEST).fetchall()
            else:
                rows = cursor.execute(_SINCE, [was[1][0], MOST_ROWS]).fetchall()
        if len(rows) == MOST_ROWS:
            return None
        if rows:
            self._newest = (connection.connection, rows[-1])
        # Where it is not there any more, a backup was restored or its conversation is gone.
        if was is None or was[0] is not connection.connection or not rows or rows[0] != was[1]:
            return None
        if not rows[1:]:
            return {}
        watched = set(self.bell.watched())
        last = {session: seq for _, session, seq in rows[1:] if session in watched}
        # Without those that nobody watches any more: how they stand is not looked at until somebody does again.
        self._seen = {pk: seq for pk, seq in (self._seen | last).items() if pk in watched}
        return dict(last)
