"""How many streams each caller has open in this process: one that is open costs memory for as long as it is."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from functools import partial
from typing import Generic, TypeVar

from envelopes.conf import conf
from envelopes.errors import TooOften

AGAIN_SECONDS = 5
"""When to come again: by then one that was cut a moment ago is counted no more."""

Streamed = TypeVar("Streamed")


class Stream(AsyncIterator[Streamed], Generic[Streamed]):
    """What a ``StreamingHttpResponse`` sends. Django closes its content with the response, whatever became of that, but
    a generator only by the way: where its reader went away while something was sent, the garbage collector would.

    ``ended`` is called once, from whichever thread: when it is closed, or gone without having begun.
    """

    def __init__(self, items: AsyncGenerator[Streamed], ended: Callable[[], None]) -> None:
        self._items = items
        self._loop = asyncio.get_running_loop()
        self._ended = weakref.finalize(self, ended)
        self._ended.atexit = False
        self._closing: asyncio.Task[None] | None = None

    async def __anext__(self) -> Streamed:
        return await anext(self._items)

    def close(self) -> None:
        """From whichever thread, and once nobody waits for the next item."""
        self._ended()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        self._closing = self._loop.create_task(self._items.aclose())


class Streams:
    """Open streams, by the key of whoever has them (``access.Principal.key``)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = Counter[str]()

    def of(self, key: str) -> int:
        """How many ``key`` has open."""
        return self._open[key]

    def opened(self, key: str, items: AsyncGenerator[Streamed]) -> Stream[Streamed]:
        """``items`` to be sent, counted until that has ended. Raises ``TooOften`` with the limit."""
        most = conf.BEACH_STREAMS_PER_CALLER
        with self._lock:
            if self._open[key] >= most:
                raise TooOften(
                    f"You have {most} streams open, which is the limit. Close one first.",
                    limit="BEACH_STREAMS_PER_CALLER",
                    allowed=most,
                    retry_after=AGAIN_SECONDS,
                )
            self._open[key] += 1
        return Stream(items, partial(self._closed, key))

    def _closed(self, key: str) -> None:
        with self._lock:
            self._open[key] -= 1
            if self._open[key] <= 0:
                del self._open[key]


streams = Streams()
"""Of this process."""
