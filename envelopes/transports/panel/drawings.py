"""Answers that are being written, drawn once in a process for all pages that show the conversation (D65)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import orjson

from a2ui import Engine
from envelopes.delivery.deltas import Delta
from envelopes.delivery.items import Item
from envelopes.delivery.streamed import PlacedDelta
from envelopes.markup.context import language_of
from envelopes.models import Session
from envelopes.protocol.bubbles import SURFACE_PREVIEW, place_of
from envelopes.session_state import Frame
from envelopes.session_state.engines import engine_for
from envelopes.transports.panel import frames as wire
from envelopes.transports.panel.presenter.drawers import is_prose
from envelopes.transports.panel.presenter.provisional import StreamedSurface
from envelopes.transports.panel.presenter.streamed import StreamedProse
from envelopes.types import JsonObject

P = ParamSpec("P")
T = TypeVar("T")

Bubble: TypeAlias = StreamedProse | StreamedSurface

_DRAWN = "panel drawn"
AT_ONCE = 1_000
"""Characters that are read on the event loop; what may take longer is drawn in a thread."""


@dataclass(slots=True)
class _Taken:
    """A delta that its bubble has taken in, where it is the next piece of one: the blocks ``stood`` up to there before,
    and ``due`` characters are to be read for what is drawn now."""

    delta: Delta
    bubble: Bubble | None = None
    stood: int = 0
    due: int = 0

    def drawn(self) -> str:
        return self.delta.encoded(_DRAWN, self._made)

    async def drawn_in_time(self) -> str:
        """The same, in a thread where it takes long."""
        return await _in_thread(self.drawn) if self.due > AT_ONCE else self.drawn()

    def _made(self) -> str:
        if self.bubble is None:
            return _encoded(_undrawn(self.delta))
        return _encoded(_picture(self.delta, self.bubble, self.stood, drawing=self.due > 0))


class Drawings:
    """The bubbles of one session, by the names of their streams. Used inside one event loop.

    What pages have is told from deltas alone: one that is not the next changes nothing here, and the page that misses
    something asks for the text from its beginning. That comes with the picture of now.
    """

    def __init__(self, language: str, engine: Callable[[], Engine] | None = None) -> None:
        self._language = language
        self._engine = engine or partial(engine_for, language, "UTC")
        self._bubbles: dict[str, Bubble] = {}
        self._turns: dict[str, int] = {}
        self._drawing = asyncio.Lock()
        # What will take a thread, until somebody waits for it.
        self._taken: _Taken | None = None

    async def frame(self, item: Item) -> str:
        """The frame for one item of the log, encoded."""
        match item:
            case PlacedDelta() if _is_drawn(item.delta):
                return wire.encode_drawn(item, await self._drawn(item.delta))
            case Frame() if item.over:
                async with self._drawing:
                    self._end(item)
        return wire.encode(item)

    def frame_at_once(self, item: Frame | PlacedDelta) -> str | None:
        """The same for what comes just now; None where it has to be waited for."""
        if isinstance(item, Frame):
            if item.over:
                if self._drawing.locked():
                    return None
                self._end(item)
            return wire.encode(item)
        delta = item.delta
        if not _is_drawn(delta):
            return wire.encode(item)
        made = delta.made(_DRAWN)
        if made is None:
            if self._drawing.locked() or self._taken is not None:
                return None
            taken = self._take(delta)
            if taken.due > AT_ONCE:
                self._taken = taken
                return None
            made = taken.drawn()
        return wire.encode_drawn(item, made)

    async def _drawn(self, delta: Delta) -> str:
        made = delta.made(_DRAWN)
        if made is not None:
            return made
        async with self._drawing:
            taken, self._taken = self._taken, None
            if taken is not None:
                await taken.drawn_in_time()
            # Another page may have waited for it first.
            made = delta.made(_DRAWN)
            return made if made is not None else await self._take(delta).drawn_in_time()

    def _take(self, delta: Delta) -> _Taken:
        bubble, more = self._goes_on(delta)
        if bubble is None:
            return _Taken(delta)
        stood = bubble.closed
        return _Taken(delta, bubble, stood, bubble.take(more))

    def _goes_on(self, delta: Delta) -> tuple[Bubble | None, str]:
        """The bubble that ``delta`` is the next piece of, and what of it is new; None where something is missing, or
        nothing is new."""
        bubble, text = self._bubbles.get(delta.live), delta.text
        if delta.offset == 0:
            if bubble is None or not bubble.goes_with(text):
                bubble = self._bubbles[delta.live] = self._begun(delta)
                self._turns[delta.live] = delta.turn
            return bubble, text[bubble.length :]
        if bubble is None or not delta.offset <= bubble.length < delta.offset + len(text):
            return None, ""
        return bubble, text[bubble.length - delta.offset :]

    def _begun(self, delta: Delta) -> Bubble:
        if delta.part_type == SURFACE_PREVIEW:
            return StreamedSurface(self._engine(), delta.live)
        return StreamedProse(self._language)

    def _end(self, frame: Frame) -> None:
        for live in [
            live for live, turn in self._turns.items() if turn == frame.turn and place_of(live) <= frame.over
        ]:
            del self._turns[live], self._bubbles[live]


def _is_drawn(delta: Delta) -> bool:
    return delta.part_type == SURFACE_PREVIEW or is_prose(delta.part_type)


def _undrawn(delta: Delta) -> JsonObject:
    """A delta that no bubble takes in. What tells of an interface is no text for a page: it has to ask for the picture
    where it misses something."""
    if delta.part_type != SURFACE_PREVIEW:
        return delta.as_json()
    return delta.as_json() | {"piece": "provisional", "text": "", "from": delta.offset, "draw": []}


def _picture(delta: Delta, bubble: Bubble, stood: int, *, drawing: bool) -> JsonObject:
    """A delta as it is, or with what is drawn now: then its text is what stands behind the blocks, at the offset up
    to which they stand, for a page whose blocks stand up to ``from``; they ``stood`` up to there before."""
    frame = delta.as_json()
    if isinstance(bubble, StreamedSurface):
        frame["piece"] = "provisional"
    strokes = bubble.draw() if drawing else []
    if delta.offset == 0:
        return frame | {"offset": bubble.closed, "text": bubble.tail, "from": 0, "draw": bubble.whole()}
    if bubble.closed == stood and not strokes and not isinstance(bubble, StreamedSurface):
        return frame
    # Text of which no picture can be shown takes its place.
    since = stood if bubble.closed else 0
    return frame | {"offset": bubble.closed, "text": bubble.tail, "from": since, "draw": strokes}


def _encoded(frame: JsonObject) -> str:
    return orjson.dumps(frame).decode()


async def _in_thread(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Do ``work`` in a thread, and wait for its end also when cancelled: the thread goes on, with what it works on."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *args, **options))
    try:
        return await asyncio.shield(working)
    finally:
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({working})


_of_session: WeakValueDictionary[int, Drawings] = WeakValueDictionary()


def drawings_of(session: Session) -> Drawings:
    """Those of a session, for as long as anybody keeps them."""
    found = _of_session.get(session.pk)
    if found is None:
        engine = partial(engine_for, session.locale, session.timezone)
        found = _of_session[session.pk] = Drawings(language_of(session.locale), engine)
    return found
