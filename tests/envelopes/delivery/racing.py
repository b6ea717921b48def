"""Readers of one log that stall, go away, begin again and look back at random, while rows and text are written by every
way there is. What each of them got is held to the log."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections

from envelopes.delivery.deltas import Delta, deltas
from envelopes.delivery.follower import Follower
from envelopes.delivery.items import UpToDate
from envelopes.delivery.rules import Reader
from envelopes.delivery.streamed import PlacedDelta
from envelopes.log import handing
from envelopes.log.append import writing
from envelopes.log.backends.port import Append, NewRow
from envelopes.log.commits import committer
from envelopes.log.doorbell import doorbell
from envelopes.models import Session, Turn
from envelopes.protocol.bubbles import place_of
from envelopes.registries.transports import transports
from envelopes.session_state import Frame, live_sessions, resume
from envelopes.types import JsonObject

PANEL = transports["panel"]
PERSON = Reader("person", surfaces=True)
WORDS = ("to ", "be ", "told ", "while ", "it ", "is ", "being ", "written ")


@dataclass
class Page:
    """One reader. ``at`` is the last row that it has, as a page would say in its next hello."""

    session: Session
    dice: random.Random
    at: int = 0
    got: list[int] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    over: dict[int, tuple[int, ...]] = field(default_factory=dict)
    at_once: int = 0
    in_turn: int = 0
    # The last row of this connection. A page that begins again may be told again what was on its way.
    _handed: int = 0

    async def read(self, is_over: Callable[[], bool], last: Callable[[], int]) -> None:
        """Until it has row ``last``, over several connections; ``is_over``: nothing more is written."""
        while not (is_over() and self.at >= last()):
            await self._connection(is_over, last)

    async def _connection(self, is_over: Callable[[], bool], last: Callable[[], int]) -> None:
        check = self.dice.choice([0.05, 60.0, 60.0])
        follower = Follower(
            self.session, PANEL, PERSON, check=_fine, at_once=self._tell, recheck_seconds=check
        )
        rounds = self.dice.choice([0, 1, 5, 30, 10**6])
        pumping: asyncio.Task[None] | None = None
        try:
            await self._speak(follower.begin(self.at), after=self.at)
            pumping = asyncio.create_task(self._pump(follower))
            while rounds > 0 and not (is_over() and self.at >= last()):
                rounds -= 1
                await asyncio.sleep(self.dice.random() * 0.05)
                assert not pumping.done(), pumping.result()
                match self.dice.randrange(12):
                    case 0:
                        # Back to what it has: nothing in between may be lost by it.
                        await self._speak(follower.begin(self.at), after=self.at)
                    case 1:
                        await self._speak(follower.look(lambda shown: shown.sent))
                    case 2:
                        follower.nudge()
                    case 3:
                        doorbell.ring(self.session.pk, upto=self.dice.randint(1, 50))
        finally:
            follower.close()
            if pumping is not None:
                pumping.cancel()
                await asyncio.wait({pumping})
        # What is written from here on comes with the next one, text from its beginning.
        self.texts.clear()

    async def _pump(self, follower: Follower) -> None:
        while True:
            await follower.ready()
            await self._speak(follower.new())

    async def _speak(self, items: AsyncGenerator[Any], *, after: int | None = None) -> None:
        async with aclosing(items):
            async for item in items:
                self._handed, after = (self._handed if after is None else after), None
                if self.dice.random() < 0.05:
                    # A reader that is behind.
                    await asyncio.sleep(self.dice.random() * 0.02)
                self.in_turn += 1
                self._take(item)

    def _tell(self, item: Frame | PlacedDelta) -> bool:
        chance = self.dice.random()
        if chance < 0.01:
            raise RuntimeError("the door fails")
        if chance < 0.12:
            return False
        self.at_once += 1
        self._take(item)
        return True

    def _take(self, item: object) -> None:
        match item:
            case Frame():
                assert item.prev == self._handed, f"row {item.seq} follows {item.prev}, not {self._handed}"
                self._handed = item.seq
                if item.seq > self.at:
                    self.at = item.seq
                    self.got.append(item.seq)
                if item.over:
                    self.over[item.turn] = max(item.over, self.over.get(item.turn, ()))
            case PlacedDelta():
                self._text(item.delta)
            case UpToDate():
                assert self.at <= item.seq

    def _text(self, delta: Delta) -> None:
        assert place_of(delta.live) > self.over.get(delta.turn, ()), f"{delta.live} came behind its end"
        text = self.texts.get(delta.live, "")
        assert delta.offset <= len(text), f"{delta.live} has {len(text)}, and {delta.offset} came"
        self.texts[delta.live] = text[: delta.offset] + delta.text


async def _fine() -> None:
    await asyncio.sleep(0)


class Writers:
    """They say parts of one turn, with text before each, and rows of no turn beside them."""

    def __init__(self, session: Session, turn: Turn, dice: random.Random) -> None:
        self.session, self.turn, self.dice = session, turn, dice
        self._streams: dict[str, str] = {}

    def _told(self) -> list[Delta]:
        # Whoever begins asks in another thread: a copy is made at once, and a loop over it may be interrupted.
        streams = list(self._streams.items())
        return [Delta(live, self.turn.number, "response", 0, text) for live, text in streams]

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Whoever begins meanwhile gets the texts from their beginnings, as while a reply comes."""
        deltas.begin(self.session.pk, self._told)
        try:
            yield
        finally:
            deltas.end(self.session.pk, self._told)

    async def speak(self, blocks: int) -> None:
        """Text, then the part that it becomes."""
        for block in range(blocks):
            live = f"L{self.turn.number}-1-0-0-{block}-0"
            self._streams[live] = ""
            for word in WORDS[: self.dice.randint(0, len(WORDS))]:
                offset = len(self._streams[live])
                self._streams[live] += word
                deltas.publish(self.session.pk, Delta(live, self.turn.number, "response", offset, word))
                await asyncio.sleep(self.dice.choice([0, 0, 0.005, 0.02]) * self.dice.random())
            await sync_to_async(self._part, thread_sensitive=False)(live, self._streams[live])

    def _part(self, live: str, text: str) -> None:
        part: JsonObject = {"metadata": {"partType": "response"}, "text": text or "Nothing."}
        said = {"part": part, "turnState": "awaiting", "live": live}
        try:
            with writing(self.session.pk) as writer:
                writer.add("part", said, part_type="response", turn=self.turn)
                if self.dice.random() < 0.5:
                    writer.add("note", {"note": "of nobody's page"})
        finally:
            connections.close_all()

    async def short(self, count: int) -> None:
        """From the event loop."""
        for number in range(count):
            rows = [
                NewRow("message", {"text": f"short {number}", "name": "Ada"}) for _ in range(1 + number % 3)
            ]
            await committer.append(Append(self.session.pk, None, rows))
            await asyncio.sleep(self.dice.random() * 0.05)

    async def elsewhere(self, count: int) -> None:
        """As another process does: nothing is handed over, and the ring says nothing but that there is something."""
        for number in range(count // 4):
            await sync_to_async(self._elsewhere, thread_sensitive=False)(number)
            if self.dice.random() < 0.2:
                live_sessions.forget(self.session.pk)
            doorbell.ring(self.session.pk, relayed=True)
            await asyncio.sleep(self.dice.random() * 0.03)

    def _elsewhere(self, number: int) -> None:
        AWAY.on = True
        try:
            with writing(self.session.pk) as writer:
                writer.add("message", {"text": f"elsewhere {number}", "name": "Bo"})
        finally:
            connections.close_all()


class _Away(threading.local):
    """Whether this thread stands for another process."""

    on = False


AWAY = _Away()


@contextmanager
def not_handed_over() -> Iterator[None]:
    """What ``AWAY`` threads write is handed to nobody in this process."""
    before = list(handing._takers)

    def taker(committed: handing.Committed) -> None:
        if not AWAY.on:
            for take in before:
                take(committed)

    handing._takers[:] = [taker]
    try:
        yield
    finally:
        handing._takers[:] = before


async def race(session: Session, turn: Turn, seed: int, *, readers: int, rows: int) -> list[Page]:
    """``readers`` of ``session`` while three write some ``rows`` each. Raises what one of them saw wrong."""
    pages = [Page(session, random.Random(seed + number)) for number in range(readers)]
    writers = Writers(session, turn, random.Random(seed - 1))
    done, last = asyncio.Event(), [0]
    with not_handed_over(), writers.telling():
        reading = [asyncio.create_task(page.read(done.is_set, lambda: last[0])) for page in pages]
        await asyncio.gather(writers.speak(rows), writers.short(rows), writers.elsewhere(rows))
        last[0] = max(await sync_to_async(expected)(session))
        done.set()
        await asyncio.wait_for(asyncio.gather(*reading), 60)
    return pages


def expected(session: Session) -> list[int]:
    """The rows that have a frame, made again from the log."""
    session.refresh_from_db()
    return [frame.seq for frame in resume(session, PANEL.name, 0)]
