"""Streamed text: the only thing that travels without a row (design, section 2).

Deltas are ephemeral and unstamped. Their offsets make a lost one visible; the finished part is a row, and the text so
far is kept on the turn for whoever connects meanwhile.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

from envelopes.types import JsonObject

FLUSH_SECONDS = 0.04
"""At most 25 frames a second and bubble; the first is sent at once (D35)."""


@dataclass(frozen=True)
class Delta:
    """``live`` names the bubble; ``turn`` is the number of the turn within its session; ``offset`` in code points."""

    live: str
    turn: int
    part_type: str
    offset: int
    text: str

    def as_json(self) -> JsonObject:
        return {
            "live": self.live,
            "turn": self.turn,
            "partType": self.part_type,
            "offset": self.offset,
            "text": self.text,
        }


def place_of(live: str) -> tuple[int, ...]:
    """Where a bubble stands in its turn, by its name: attempt, step, failure, block, part. Later ones are greater."""
    try:
        return tuple(int(number) for number in live.split("-")[1:])
    except ValueError:
        return ()


Subscriber = Callable[[Delta], None]
DeltaRelay = Callable[[int, Delta], None]


class DeltaHub:
    """Hands deltas to the sockets of this process, and to a relay for those of others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscribers: dict[int, dict[Subscriber, asyncio.AbstractEventLoop]] = {}
        self.relay: DeltaRelay | None = None

    def subscribe(self, session: int, subscriber: Subscriber) -> Callable[[], None]:
        with self._lock:
            self._subscribers.setdefault(session, {})[subscriber] = asyncio.get_running_loop()

        def stop() -> None:
            with self._lock:
                subscribers = self._subscribers.get(session, {})
                subscribers.pop(subscriber, None)
                if not subscribers:
                    self._subscribers.pop(session, None)

        return stop

    def publish(self, session: int, delta: Delta, *, relayed: bool = False) -> None:
        with self._lock:
            subscribers = list(self._subscribers.get(session, {}).items())
        here = asyncio.get_running_loop()
        for subscriber, loop in subscribers:
            if loop is here:
                subscriber(delta)
            elif not loop.is_closed():
                loop.call_soon_threadsafe(subscriber, delta)
        if self.relay is not None and not relayed:
            self.relay(session, delta)


deltas = DeltaHub()
"""The hub of this process."""
