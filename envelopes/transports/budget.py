"""How many frames a connection may send."""

from __future__ import annotations

import time
from collections.abc import Callable

from envelopes.errors import BeachError


class Budget:
    """``rate`` frames a second, with a burst of two seconds' worth."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.clock = clock
        self.left = rate * 2
        self.at = clock()

    def spend(self) -> None:
        """Raises ``TooFast``."""
        now = self.clock()
        self.left = min(self.rate * 2, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            raise TooFast(limit="BEACH_FRAMES_PER_SECOND", allowed=self.rate)
        self.left -= 1


class TooFast(BeachError):
    """Too many messages at once. Wait a moment and send again."""

    code = "too_fast"
    fault = "client"
    passing = True
