"""When streamed text goes out: one timer of a process for all replies that are being written."""

from __future__ import annotations

import asyncio
import heapq
import logging
import time
from collections.abc import Callable
from itertools import count

from envelopes.delivery.deltas import FAST_FLUSH_SECONDS, FLUSH_SECONDS, FRAMES_SHARE

logger = logging.getLogger(__name__)

TOGETHER_SECONDS = 0.004
"""What is due so soon after something else goes out with it: a round of the event loop costs more than a frame."""

LOOK_SECONDS = 0.1
"""How often it is looked at how fast a text comes, and how much of the time frames take."""


class Pacer:
    """Calls whoever holds text back once it is due, those that have waited longest first.

    A busy event loop comes to its timers late. As late as it came to this round it may come to the next, so what would
    be due by then goes out now: the busier the loop, the more of the text that has gathered is one frame. Belongs to
    one event loop.

    ``fast``: the least between two frames of a text that comes fast, in seconds (``deltas.FAST_FLUSH_SECONDS``).
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._owing: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        self._timer: asyncio.TimerHandle | None = None
        self._wakes_at = 0.0
        self.fast = FAST_FLUSH_SECONDS
        self._looked_at, self._spent = clock(), 0.0

    def told(self, seconds: float) -> None:
        """A frame took so long to make and to send."""
        self._spent += seconds
        now = self._clock()
        passed = now - self._looked_at
        if passed >= LOOK_SECONDS:
            # What frames take goes with how many there are.
            within_share = self.fast * self._spent / passed / FRAMES_SHARE
            self.fast = min(FLUSH_SECONDS, max(FAST_FLUSH_SECONDS, within_share))
            self._looked_at, self._spent = now, 0.0

    def call(self, tell: Callable[[], None], at: float) -> None:
        """Call ``tell`` about ``at`` (seconds, of the clock). What has nothing to tell by then is to do nothing."""
        heapq.heappush(self._owing, (at, next(self._number), tell))
        if self._timer is None or at < self._wakes_at:
            self._wake(at)

    def _wake(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wakes_at = at
        wait = max(0.0, at - self._clock())
        self._timer = asyncio.get_running_loop().call_later(wait, self._round)

    def _round(self) -> None:
        self._timer = None
        now = self._clock()
        until = now + max(TOGETHER_SECONDS, now - self._wakes_at)
        while self._owing and self._owing[0][0] <= until:
            _, _, tell = heapq.heappop(self._owing)
            try:
                tell()
            except Exception:
                logger.exception("Text could not be told while it was written; it comes with its part.")
        if self._owing and self._timer is None:
            self._wake(self._owing[0][0])
