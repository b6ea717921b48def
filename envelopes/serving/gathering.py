"""Rounds of a busy event loop, gathered: interrupt moderation, as network cards do it.

A hundred streams wake a loop thousands of times a second, each time for one token. A wake costs several times what the
token does: the system has let the processor rest and its caches go cold. A loop that is woken so often looks for what
has come every few milliseconds instead, and does all of it in one round. One that has little to do is left alone.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import Callable, Mapping
from selectors import BaseSelector, SelectorKey
from typing import Any

ROUND_SECONDS = 0.004
"""The least from one look to the next while rounds are gathered, and so the most that anything comes later by, but for
the millisecond to which systems round a wait up."""

WATCH_SECONDS = 0.05
"""For how long wakes are counted at a time."""

BUSY_WAKES = 400
"""From so many wakes a second on, rounds are gathered."""

HOLD_SECONDS = 2.0
"""For how long; then wakes are counted again, which has to see them as they come."""

Found = list[tuple[SelectorKey, int]]


class GatheringSelector(BaseSelector):
    """``selector``, of an event loop that other threads wake by the file descriptor ``wakes``: they never wait."""

    def __init__(
        self,
        selector: BaseSelector,
        wakes: int,
        clock: Callable[[], float] = time.monotonic,
        rest: Callable[[float], object] | None = None,
    ) -> None:
        """``rest`` lets so many seconds pass, or fewer where a thread wakes the loop."""
        self._selector, self._wakes, self._clock = selector, wakes, clock
        self._rest = rest or _until_readable(wakes)
        self._counted, self._since = 0, clock()
        self._until = self._next = self._since

    def select(self, timeout: float | None = None) -> Found:
        """What is ready, after ``timeout`` seconds at the latest; None: however long that takes."""
        if timeout is not None and timeout <= 0:
            return self._selector.select(timeout)
        now = self._clock()
        if now < self._until:
            return self._gathered(now, timeout)
        found = self._selector.select(timeout)
        # Timers end a wait as well, with nothing found.
        if not found or any(key.fd != self._wakes for key, _ in found):
            self._count(now)
        return found

    def _gathered(self, now: float, timeout: float | None) -> Found:
        rest = self._next - now
        if rest > 0:
            self._rest(rest)
            now = self._clock()
            if timeout is not None:
                timeout = max(0.0, timeout - rest)
        self._next = now + ROUND_SECONDS
        return self._selector.select(timeout)

    def _count(self, now: float) -> None:
        self._counted += 1
        watched = now - self._since
        if watched >= WATCH_SECONDS:
            if self._counted >= BUSY_WAKES * watched:
                self._until = now + HOLD_SECONDS
            self._since, self._counted = max(now, self._until), 0

    def register(self, fileobj: Any, events: int, data: Any = None) -> SelectorKey:
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> SelectorKey:
        return self._selector.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> SelectorKey:
        return self._selector.modify(fileobj, events, data)

    def get_key(self, fileobj: Any) -> SelectorKey:
        return self._selector.get_key(fileobj)

    def get_map(self) -> Mapping[Any, SelectorKey]:
        return self._selector.get_map()

    def close(self) -> None:
        self._selector.close()


def _until_readable(file: int) -> Callable[[float], object]:
    polled = select.poll()
    polled.register(file, select.POLLIN)
    return lambda seconds: polled.poll(seconds * 1_000)


def gather(loop: asyncio.AbstractEventLoop) -> None:
    """Have ``loop``, which does not run yet, gather its rounds when it is busy; nothing for one that has no selector,
    such as uvloop's."""
    if isinstance(loop, asyncio.SelectorEventLoop):
        inside: Any = loop
        inside._selector = GatheringSelector(inside._selector, inside._ssock.fileno())
