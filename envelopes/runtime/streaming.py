"""The text of the reply that is being written: pushed as it grows, kept for whoever connects meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from envelopes.delivery.deltas import FAST_PIECES, FLUSH_SECONDS, Delta, deltas
from envelopes.protocol.bubbles import SURFACE_PREVIEW
from envelopes.protocol.respond import MAX_PARTS
from envelopes.runtime.pacing import LOOK_SECONDS, Pacer
from envelopes.runtime.respond_stream import RespondStream, SurfaceGrown
from envelopes.runtime.saving import LiveSaver
from envelopes.turns.leases import Claim
from envelopes.types import JsonObject


@dataclass
class Bubble:
    """One text. What it grows by costs the same however long it is."""

    live: str
    part_type: str
    part_id: str = ""
    sent: int = 0
    _pieces: list[str] = field(default_factory=list)
    _unsent: list[str] = field(default_factory=list)

    def grow(self, text: str) -> None:
        self._pieces.append(text)
        self._unsent.append(text)

    @property
    def text(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def told(self) -> str:
        """Asked for by other event loops too: nothing is changed here."""
        return "".join(self._pieces)[: self.sent]

    def take_unsent(self) -> str:
        text, self._unsent = "".join(self._unsent), []
        self.sent += len(text)
        return text


@dataclass
class _Call:
    """A respond() call, and what of it was not looked at yet."""

    stream: RespondStream
    unread: list[str] = field(default_factory=list)


@dataclass
class LiveText:
    """The bubbles of one reply. ``prefix`` makes their names unique in the session: turn, attempt, step.

    What comes faster than it may be told (``deltas.FLUSH_SECONDS``) is looked at only when it is told: a piece of text
    costs next to nothing then.
    """

    claim: Claim
    turn: int
    prefix: str
    saver: LiveSaver
    pacer: Pacer = field(default_factory=Pacer)
    clock: Callable[[], float] = time.monotonic
    bubbles: dict[tuple[int, int], Bubble] = field(default_factory=dict)
    previews: dict[tuple[int, int], Bubble] = field(default_factory=dict)
    """Interfaces that are being written. They never become parts: their rows bring them anew."""
    calls: dict[int, _Call] = field(default_factory=dict)
    _unsent: dict[str, Bubble] = field(default_factory=dict)
    # Since when pieces are counted, how many were read since, and whether they came fast when that was asked last.
    _counted_since: float = 0.0
    _pieces: int = 0
    _is_fast: bool = False
    # From when on the next piece may be told, and whether the pacer was asked to see to it.
    _due_at: float = 0.0
    _owing: bool = False

    def start(self, block: int, limit: int) -> None:
        """``limit``: how many bytes the call may have."""
        self.calls[block] = _Call(RespondStream(limit=limit))
        deltas.begin(self.claim.session_pk, self.told)

    def reads(self, block: int) -> bool:
        """Whether ``block`` is a respond() call that is being written."""
        return block in self.calls

    def feed(self, block: int, fragment: str) -> None:
        """Take in more of the JSON text of the call in ``block``; send what of its text can be told and is due. The
        beginning of a bubble is at once (D35)."""
        call = self.calls[block]
        call.unread.append(fragment)
        now = self.clock()
        if now >= self._due_at:
            self._read(block, call)
            self._send()
        else:
            if not call.stream.is_plain_text(fragment):
                self._read(block, call)
                self._send(begun_only=True)
            self._owe()

    def _read(self, block: int, call: _Call) -> None:
        """Look at what has come of the call."""
        self._pieces += len(call.unread)
        written, call.unread = "".join(call.unread), []
        for piece in call.stream.feed(written):
            if piece.part >= MAX_PARTS:
                continue  # such a call will be refused: nothing of it is worth telling
            key = (block, piece.part)
            if isinstance(piece, SurfaceGrown):
                self._draw(key, piece.messages)
                continue
            bubble = self.bubbles.get(key)
            if bubble is None:
                bubble = Bubble(f"L{self.prefix}-{block}-{piece.part}", piece.part_type, piece.part_id or "")
                self.bubbles[key] = bubble
            bubble.grow(piece.text)
            self._unsent[bubble.live] = bubble
            self.saver.grew(self.claim, self.as_json)

    def _draw(self, key: tuple[int, int], messages: list[JsonObject]) -> None:
        preview = self.previews.get(key)
        if preview is None:
            block, part = key
            preview = self.previews[key] = Bubble(f"L{self.prefix}-{block}-{part}", SURFACE_PREVIEW)
        for message in messages:
            preview.grow(f"{json.dumps(message, ensure_ascii=False)}\n")
        self._unsent[preview.live] = preview
        self.saver.grew(self.claim, self.as_json)

    def _read_all(self) -> None:
        for block, call in self.calls.items():
            if call.unread:
                self._read(block, call)

    def _send(self, *, begun_only: bool = False) -> None:
        """Tell what was not told yet, or the beginnings of bubbles only."""
        for bubble in list(self._unsent.values()):
            if begun_only and bubble.sent:
                continue
            del self._unsent[bubble.live]
            self._tell(bubble)

    def _tell(self, bubble: Bubble) -> None:
        offset = bubble.sent
        text = bubble.take_unsent()
        if text:
            now = self.clock()
            self._due_at = self._next_after(now)
            told = Delta(bubble.live, self.turn, bubble.part_type, offset, text, bubble.part_id)
            deltas.publish(self.claim.session_pk, told)
            self.pacer.told(self.clock() - now)

    def _next_after(self, now: float) -> float:
        """When what comes next may be told, now that something is."""
        passed = now - self._counted_since
        if passed >= LOOK_SECONDS:
            self._is_fast = self._pieces > FAST_PIECES * passed
            self._counted_since, self._pieces = now, 0
        return now + (self.pacer.fast if self._is_fast else FLUSH_SECONDS)

    def _owe(self) -> None:
        """A model that pauses, or writes long data behind a text, must not hold back the end of that text."""
        if not self._owing and (self._unsent or any(call.unread for call in self.calls.values())):
            self._owing = True
            self.pacer.call(self._settle, self._due_at)

    def _settle(self) -> None:
        self._owing = False
        self.flush()

    def close(self) -> None:
        """The reply is over, however it ended: what was not told yet is not told any more."""
        self.saver.forget(self.claim)
        self._end_previews(self.previews)
        deltas.end(self.claim.session_pk, self.told)
        self.calls.clear()
        self._unsent.clear()

    def _end_previews(self, keys: Iterable[tuple[int, int]]) -> None:
        """These are written to their end, or never will be."""
        for key in list(keys):
            preview = self.previews.pop(key)
            preview.grow("null\n")
            self._unsent[preview.live] = preview
        self._send_previews()

    def _send_previews(self) -> None:
        ended = [bubble for bubble in self._unsent.values() if bubble.part_type == SURFACE_PREVIEW]
        for bubble in ended:
            del self._unsent[bubble.live]
            self._tell(bubble)

    def told(self) -> list[Delta]:
        """What was told of each bubble so far."""
        # Readers ask in threads of the database: one copy, made in one go, is not changed meanwhile.
        bubbles = [*self.bubbles.values(), *self.previews.values()]
        return [
            Delta(bubble.live, self.turn, bubble.part_type, 0, bubble.told, bubble.part_id)
            for bubble in bubbles
            if bubble.sent
        ]

    def flush(self) -> None:
        """Send what is held back for pacing."""
        self._read_all()
        self._send()

    async def over(self) -> None:
        """The reply is complete, or broke off: after this its text can be taken off the turn, for good."""
        self._read_all()
        await self.saver.over(self.claim)

    async def end(self, block: int) -> dict[int, str]:
        """The block is complete: its bubbles by part number, which are from now on the parts' own."""
        self.flush()
        drawn = {part: preview.live for (number, part), preview in self.previews.items() if number == block}
        self._end_previews([key for key in self.previews if key[0] == block])
        self.calls.pop(block, None)
        ended = {part: bubble.live for (number, part), bubble in self.bubbles.items() if number == block}
        # Until it is over they can be told: whoever is stopped while it waits here keeps what was read.
        await self.over()
        for part in ended:
            del self.bubbles[(block, part)]
        if self.bubbles:
            self.saver.grew(self.claim, self.as_json)
        return {**drawn, **ended}

    def left(self) -> list[str]:
        """The bubbles that never became a part, and the interfaces."""
        return sorted(bubble.live for bubble in (*self.bubbles.values(), *self.previews.values()))

    def partial(self) -> list[tuple[str, str, str, str]]:
        """``(live key, part type, text, part id)`` of what is still being written."""
        self._read_all()
        return [
            (bubble.live, bubble.part_type, bubble.text, bubble.part_id)
            for bubble in self.bubbles.values()
            if bubble.text.strip()
        ]

    def as_json(self) -> JsonObject:
        return {
            b.live: {"turn": self.turn, "partType": b.part_type, "text": b.text}
            | ({"partId": b.part_id} if b.part_id else {})
            for b in (*self.bubbles.values(), *self.previews.values())
        }
