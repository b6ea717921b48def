"""What callers hold open in this process, counted: each costs memory, or a file, for as long as it is there."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Generic, TypeVar

from envelopes.conf import conf
from envelopes.errors import Crowded, TooOften

AGAIN_SECONDS = 5
"""When to come again: by then what was cut a moment ago is counted no more."""


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


class Quota:
    """``what`` is counted, in the plural. ``each`` and ``all_together`` name the settings that bound how many one
    caller has (by ``access.Principal.key``), and the process; without the latter nothing does."""

    def __init__(self, what: str, each: str, all_together: str = "") -> None:
        self._what = what
        self._each = each
        self._all = all_together
        self._lock = threading.Lock()
        self._open = Counter[str]()

    def of(self, key: str) -> int:
        """How many ``key`` has open."""
        return self._open[key]

    def take(self, key: str) -> Callable[[], None]:
        """One more for ``key``; returns what ends it, which may be called more than once and from any thread.

        Raises ``TooOften`` where ``key`` has as many as it may, ``Crowded`` where the process has; both with the name
        of the setting.
        """
        most = getattr(conf, self._each)
        room = getattr(conf, self._all) if self._all else None
        with self._lock:
            if self._open[key] >= most:
                raise TooOften(
                    f"You have {most:,} {self._what} open, which is the limit. Close one first.",
                    limit=self._each,
                    allowed=most,
                    retry_after=AGAIN_SECONDS,
                )
            if room is not None and self._open.total() >= room:
                raise Crowded(
                    f"The server has {room:,} {self._what} open, which is the limit. Try again in a while.",
                    limit=self._all,
                    allowed=room,
                    retry_after=AGAIN_SECONDS,
                )
            self._open[key] += 1
        left = [key]

        def end() -> None:
            with self._lock:
                if left:
                    self._leave(left.pop())

        return end

    def opened(self, key: str, items: AsyncGenerator[Streamed]) -> Stream[Streamed]:
        """``items`` to be sent, counted until that has ended. Raises as ``take`` does."""
        return Stream(items, self.take(key))

    def _leave(self, key: str) -> None:
        self._open[key] -= 1
        if self._open[key] <= 0:
            del self._open[key]
