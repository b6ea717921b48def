"""Streamed text: the only thing that travels without a row (design, section 2).

Deltas are ephemeral and unstamped. Their offsets make a lost one visible; the finished part is a row, and the text so
far is kept on the turn for whoever connects meanwhile.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from envelopes.types import JsonObject

FLUSH_SECONDS = 0.03
"""The least between two frames of a bubble; the first is sent at once (D35). What a busy loop is late by still leaves
twenty a second."""

FAST_FLUSH_SECONDS = 0.012
"""The same of a text that comes in more than ``FAST_PIECES`` a second, as long as frames take no more than
``FRAMES_SHARE`` of the time of the event loop: with more of them it goes up to ``FLUSH_SECONDS``. A frame costs more
than a piece of text: to tell each piece of a slower one alone would cost much, and few would see it."""
FAST_PIECES = 100
FRAMES_SHARE = 1 / 3


@dataclass(slots=True, unsafe_hash=True)
class Delta:
    """Nobody changes one. Not frozen: each frame is one, and a frozen one takes four times as long to make.

    ``live`` names the bubble; ``turn`` is the number of the turn within its session; ``offset`` in code points;
    ``part_id`` of the part that it will be, or go on with, "" for none (D8)."""

    live: str
    turn: int
    part_type: str
    offset: int
    text: str
    part_id: str = ""
    _encoded: dict[str, str] = field(default_factory=dict, init=False, compare=False, repr=False)

    @classmethod
    def saved(cls, live: str, turn: int, bubble: JsonObject) -> Delta:
        """The whole text of a bubble, as ``Turn.live`` has it."""
        return cls(live, turn, bubble["partType"], 0, bubble["text"], bubble.get("partId", ""))

    def made(self, form: str) -> str | None:
        """What ``encoded`` has made of it, if it has."""
        return self._encoded.get(form)

    def encoded(self, form: str, encode: Callable[[], str]) -> str:
        """What ``encode`` makes of it, made once for all readers in this process that want the same ``form``."""
        made = self._encoded.get(form)
        if made is None:
            made = self._encoded[form] = encode()
        return made

    def as_json(self) -> JsonObject:
        told: JsonObject = {
            "live": self.live,
            "turn": self.turn,
            "partType": self.part_type,
            "offset": self.offset,
            "text": self.text,
        }
        return told | {"partId": self.part_id} if self.part_id else told


Subscriber = Callable[[Delta], None]
Writer = Callable[[], list[Delta]]
DeltaRelay = Callable[[int, Delta], None]
_Place = tuple[Subscriber, asyncio.AbstractEventLoop, int]


class DeltaHub:
    """Hands deltas to the sockets of this process, and to a relay for those of others. Knows who writes here, for
    whoever connects meanwhile: what is saved of their texts is older."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # With the thread of the loop: to ask for the loop that runs costs a system call before Python 3.12.
        # Replaced and not changed, so that whoever publishes needs neither the lock nor a copy.
        self._subscribers: dict[int, tuple[_Place, ...]] = {}
        self._writers: dict[int, dict[Writer, None]] = {}
        self.relay: DeltaRelay | None = None

    def begin(self, session: int, writer: Writer) -> None:
        """``writer`` gives what it has told so far, from the beginning of each text; until ``end``. It is asked in any
        thread."""
        with self._lock:
            self._writers.setdefault(session, {})[writer] = None

    def end(self, session: int, writer: Writer) -> None:
        with self._lock:
            writers = self._writers.get(session, {})
            writers.pop(writer, None)
            if not writers:
                self._writers.pop(session, None)

    def told(self, session: int) -> list[Delta]:
        """What has been told so far of the texts that are being written in this process."""
        with self._lock:
            writers = list(self._writers.get(session, {}))
        return [delta for writer in writers for delta in writer()]

    def subscribe(self, session: int, subscriber: Subscriber) -> Callable[[], None]:
        with self._lock:
            place = (subscriber, asyncio.get_running_loop(), threading.get_ident())
            self._subscribers[session] = (*self._others(session, subscriber), place)
        return partial(self._forget, session, subscriber)

    def _forget(self, session: int, subscriber: Subscriber) -> None:
        with self._lock:
            others = self._others(session, subscriber)
            if others:
                self._subscribers[session] = others
            else:
                self._subscribers.pop(session, None)

    def _others(self, session: int, subscriber: Subscriber) -> tuple[_Place, ...]:
        return tuple(place for place in self._subscribers.get(session, ()) if place[0] != subscriber)

    def publish(self, session: int, delta: Delta, *, relayed: bool = False) -> None:
        here = threading.get_ident()
        for subscriber, loop, thread in self._subscribers.get(session, ()):
            if thread == here and loop.is_running():
                subscriber(delta)
            elif not loop.is_closed():
                loop.call_soon_threadsafe(subscriber, delta)
        if self.relay is not None and not relayed:
            self.relay(session, delta)


deltas = DeltaHub()
"""The hub of this process."""
