"""The poll: rows that another process wrote show without a message, at the latest after half a second (D46)."""

from __future__ import annotations

import asyncio
import logging

from django.db import connection

from envelopes.database_threads import read_beside_sessions
from envelopes.log.doorbell import Doorbell, doorbell
from envelopes.models import Session
from envelopes.tasks import end

logger = logging.getLogger(__name__)

SECONDS = 0.5
END_SECONDS = 1.0


class Poll:
    """Rings sessions that somebody here watches and that have grown without a ring."""

    def __init__(self, bell: Doorbell = doorbell) -> None:
        self.bell = bell
        self._task: asyncio.Task[None] | None = None
        self._seen: dict[int, int] = {}
        self._version: tuple[object, int] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            await end([self._task], seconds=END_SECONDS)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            watched = self.bell.watched()
            if not watched:
                self._seen.clear()
                continue
            try:
                grown = await read_beside_sessions(self._grown, watched)
            except asyncio.CancelledError:
                raise
            except Exception:
                logger.exception("Polling the log failed; it goes on.")
                # What changed is not known to be seen.
                self._version = None
                continue
            for session, upto in grown.items():
                self.bell.ring(session, upto=upto, relayed=True)

    def _grown(self, watched: list[int]) -> dict[int, int | None]:
        """The sessions that stand otherwise than before, each with its last row."""
        if connection.vendor == "sqlite" and not self._changed():
            return {}
        last = dict(Session.objects.filter(pk__in=watched).values_list("pk", "last_seq"))
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
