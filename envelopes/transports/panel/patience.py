"""How long whoever comes to a socket is kept waiting for the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any


class Patience:
    """``seconds`` for all together: where the database has owed an answer for so long, nobody waits any more until it
    gives one. Each for themselves, eight at a time, a thousand would wait for minutes. Used by one event loop
    at a time."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._owed = 0
        self._since = 0.0

    async def wait(self, answer: asyncio.Future[Any]) -> None:
        """Returns when ``answer`` is there, or is not to be waited for. It is neither raised nor cancelled."""
        loop = asyncio.get_running_loop()
        if not self._owed or self._loop is not loop:
            # What the database owes a loop that is gone nobody waits for.
            self._loop, self._owed = loop, 0
            self._since = self._clock()
        self._owed += 1
        answer.add_done_callback(self._came)
        left = self._since + self._seconds - self._clock()
        if left > 0:
            await asyncio.wait([answer], timeout=left)

    def _came(self, answer: asyncio.Future[Any]) -> None:
        self._owed -= 1
        if not answer.cancelled():
            self._since = self._clock()
