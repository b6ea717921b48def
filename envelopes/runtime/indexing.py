"""The search kept up with the log, beside the runner: at ease, so that what people wait for is not held up by what
somebody may look for."""

from __future__ import annotations

import asyncio
import logging
import time

from envelopes.conf import conf
from envelopes.database_threads import beside_sessions
from envelopes.search import Follower
from envelopes.tasks import end

logger = logging.getLogger(__name__)

END_SECONDS = 1.0

SHARE = 0.05
"""Of the time of a thread: with much to do, it rests nineteen times as long as it has worked. Whoever searches
meanwhile takes in what is new by themselves (``search.catch_up``)."""


class Indexing:
    """``start`` and ``stop`` belong to one event loop."""

    def __init__(self) -> None:
        self._follower = Follower()
        self._loop: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin; what came while nobody was there is taken in."""
        if self._loop is None:
            self._loop = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """End. What is being stored is stored."""
        if self._loop is not None:
            await end([self._loop], seconds=END_SECONDS)
            self._loop = None

    async def _forever(self) -> None:
        while True:
            # First of all: whoever starts a process wants something else of it.
            await asyncio.sleep(conf.BEACH_SEARCH_SECONDS)
            try:
                await self.once()
            except asyncio.CancelledError:
                raise
            except Exception:
                logger.exception("The search could not follow the log; the next look tries again.")

    async def once(self) -> None:
        """Until nothing is new."""
        while True:
            began = time.monotonic()
            if not await beside_sessions(self._follower.look):
                return
            await asyncio.sleep((time.monotonic() - began) * (1 / SHARE - 1))
