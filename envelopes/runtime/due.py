"""Turns that wait, and whose time is up, or has come: one that was to be tried again begins."""

from __future__ import annotations

import logging
from collections.abc import Callable

from envelopes.database_threads import beside_sessions, in_session
from envelopes.runtime.answering import Spawn
from envelopes.turns import retrying, sweeping

logger = logging.getLogger(__name__)


class Due:
    """Those that this process sees to. ``now`` gives seconds since 1970."""

    def __init__(self, spawn: Spawn, now: Callable[[], float]) -> None:
        self._spawn = spawn
        self._now = now
        self._at_work: set[int] = set()

    async def sweep(self) -> None:
        """Find them; each is seen to in the thread of its session, where others may be at work: nobody waits for it."""
        now = self._now()
        for turn, session in await beside_sessions(sweeping.due_turns, now):
            if turn not in self._at_work:
                self._at_work.add(turn)
                self._spawn(self._begin(turn, session, now))

    async def _begin(self, turn: int, session: int, now: float) -> None:
        try:
            await in_session(session, retrying.begin_due, turn, session, now)
        except Exception:
            logger.exception("Turn %s could not be begun or ended; the next sweep tries again.", turn)
        finally:
            self._at_work.discard(turn)
