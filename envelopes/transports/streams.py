"""How many streams each caller has open in this process: one that is open costs memory for as long as it is."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import AsyncGenerator
from typing import TypeVar

from envelopes.conf import conf
from envelopes.errors import TooOften

AGAIN_SECONDS = 5
"""When to come again: by then one that was cut a moment ago is counted no more."""

Streamed = TypeVar("Streamed")


class Streams:
    """Open streams, by the key of whoever has them (``access.Principal.key``). Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = Counter[str]()

    def of(self, key: str) -> int:
        """How many ``key`` has open."""
        return self._open[key]

    def opened(self, key: str, items: AsyncGenerator[Streamed]) -> AsyncGenerator[Streamed]:
        """``items``, counted until it is gone: read to its end, closed, or never begun because its reader went away
        first. Raises ``TooOften`` with the limit."""
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
        # There is no other end that all of these have: what nobody has begun runs no "finally".
        weakref.finalize(items, self._closed, key).atexit = False
        return items

    def _closed(self, key: str) -> None:
        with self._lock:
            self._open[key] -= 1
            if self._open[key] <= 0:
                del self._open[key]


streams = Streams()
"""Of this process."""
