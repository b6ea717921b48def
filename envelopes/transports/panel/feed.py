"""What one page gets of a session: rows in their order, the text that streams between them, news of the list beside it.

``catch_up`` and ``start`` are not to run at the same time: whoever calls them keeps them apart.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import orjson
from asgiref.sync import sync_to_async

from envelopes.delivery.deltas import Delta, deltas, place_of
from envelopes.delivery.listing import listing
from envelopes.delivery.live import Frame, resume, views
from envelopes.errors import BeachError
from envelopes.log.doorbell import doorbell
from envelopes.models import Session, Turn
from envelopes.transports.panel.identity import Changed
from envelopes.types import JsonObject


class NotInLog(BeachError):
    """This page shows more than the server has. Load it again."""

    code = "not_in_log"
    fault = "us"


class Feed:
    """``cursor`` is the last row that the page has; ``ring`` is set when there may be more for it."""

    def __init__(self, session: Session, send: Callable[[str], Awaitable[None]]) -> None:
        self.session = session
        self.ring = asyncio.Event()
        self.cursor = 0
        self._send = send
        self._undo: list[Callable[[], None]] = []
        self._deltas: list[Delta] = []
        self._over: dict[int, tuple[int, ...]] = {}
        self._relist = False

    def listen(self, key: str) -> None:
        """Hear of everything new, from the first call on; ``key`` is that of the page's principal."""
        if self._undo:
            return
        session = self.session.pk
        views.watch(session)
        self._undo = [
            lambda: views.unwatch(session),
            doorbell.listen(session, self.ring.set),
            deltas.subscribe(session, self._on_delta),
            listing.watch(key, session, self._on_listing),
        ]

    def close(self) -> None:
        undo, self._undo = self._undo, []
        for one in undo:
            one()

    async def say(self, frame: JsonObject) -> None:
        await self._send(orjson.dumps(frame).decode())

    async def start(self, after: int) -> None:
        """Everything after row ``after``, the welcome, and what streams now.

        Raises ``NotInLog``, ``TooFarBack``, and ``Changed`` for a session that is gone.
        """
        await sync_to_async(self._find)(after)
        self.cursor = after
        await self._rows()
        seq, busy, live, self._over = await sync_to_async(self._state)()
        now = time.time_ns() // 1_000_000
        await self.say({"type": "welcome", "seq": seq, "busy": busy, "now": now})
        for frame in live:
            await self.say(frame)

    async def catch_up(self) -> None:
        """What is new. Raises ``TooFarBack``."""
        await self._rows()
        if self._relist:
            self._relist = False
            await self.say({"type": "sessions"})

    def _find(self, after: int) -> None:
        """The log of a database that was restored may be shorter than what a page shows, and than what this process
        has seen of it."""
        try:
            self.session.refresh_from_db(fields=["last_seq"])
        except Session.DoesNotExist as error:
            raise Changed from error
        views.check(self.session)
        if after > self.session.last_seq:
            raise NotInLog

    async def _rows(self) -> None:
        """Send streamed text and new rows, in the order in which they were made.

        A row was read after everything that streamed before it here had been queued, so that goes first; what has no
        place yet waits for the row that makes one, unless that row has ended it too.
        """
        frames = [frame for frame in await sync_to_async(self._frames)() if frame.seq > self.cursor]
        early = await self._send_deltas()
        for frame in frames:
            await self._send(frame.payload)
            self.cursor = frame.seq
            self._over[frame.turn] = max(frame.over, self._over.get(frame.turn, ()))
        self._deltas[:0] = early
        await self._send_deltas()

    def _frames(self) -> list[Frame]:
        with views.open(self.session) as view:
            kept = view.frames_after(self.cursor)
        if kept is not None:
            return kept
        self.session.refresh_from_db(fields=["last_seq"])
        return resume(self.session, self.cursor)

    def _state(self) -> tuple[int, bool, list[JsonObject], dict[int, tuple[int, ...]]]:
        """What a browser that has just connected needs besides rows: is something at work, what streams now, what of
        it is over."""
        with views.open(self.session) as view:
            live = []
            for turn in Turn.objects.filter(session=self.session, status="running"):
                into = view.thread.container(turn.number)
                for key, bubble in turn.live.items():
                    if into:
                        live.append(
                            _delta_frame(Delta(key, turn.number, bubble["partType"], 0, bubble["text"]), into)
                        )
            return view.sent, view.thread.busy, live, dict(view.over)

    def _on_delta(self, delta: Delta) -> None:
        self._deltas.append(delta)
        self.ring.set()

    def _on_listing(self) -> None:
        self._relist = True
        self.ring.set()

    async def _send_deltas(self) -> list[Delta]:
        """Send what has streamed and is not over; returns what has no place on the page yet."""
        pending, self._deltas = self._deltas, []
        homeless = []
        for delta in pending:
            if place_of(delta.live) <= self._over.get(delta.turn, (-1,)):
                continue
            into = views.container(self.session.pk, delta.turn)
            if into:
                await self.say(_delta_frame(delta, into))
            else:
                homeless.append(delta)
        return homeless


def _delta_frame(delta: Delta, into: str) -> JsonObject:
    return {"type": "delta", "into": into, **delta.as_json()}
