"""The text of the reply that is being written: pushed as it grows, kept for whoever connects meanwhile."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from asgiref.sync import sync_to_async

from envelopes.delivery.deltas import FLUSH_SECONDS, Delta, deltas
from envelopes.protocol.respond import MAX_PARTS
from envelopes.runtime.respond_stream import RespondStream
from envelopes.runtime.store import Claim, save_live
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

SAVE_SECONDS = 0.25


@dataclass
class Bubble:
    live: str
    part_type: str
    text: str = ""
    sent: int = 0
    flushed_at: float = 0.0


@dataclass
class LiveText:
    """The bubbles of one reply. ``prefix`` makes their names unique in the session: turn, attempt, step."""

    claim: Claim
    turn: int
    prefix: str
    clock: Callable[[], float] = time.monotonic
    bubbles: dict[tuple[int, int], Bubble] = field(default_factory=dict)
    streams: dict[int, RespondStream] = field(default_factory=dict)
    saved_at: float = 0.0
    _unsaved: bool = False
    _rest: asyncio.Task[None] | None = None

    def start(self, block: int, limit: int) -> None:
        """``limit``: how many bytes the call may have."""
        self.streams[block] = RespondStream(limit=limit)

    async def feed(self, block: int, fragment: str) -> None:
        """Take in more of the JSON text of the call in ``block``; send what of its text can be told."""
        for piece in self.streams[block].feed(fragment):
            if piece.part >= MAX_PARTS:
                continue  # such a call will be refused: nothing of it is worth telling
            key = (block, piece.part)
            bubble = self.bubbles.get(key)
            if bubble is None:
                bubble = Bubble(f"L{self.prefix}-{block}-{piece.part}", piece.part_type)
                self.bubbles[key] = bubble
            bubble.text += piece.text
            self._unsaved = True
        await self._tell()
        if self._owes and self._rest is None:
            self._rest = asyncio.create_task(self._tell_rest())

    async def _tell(self) -> None:
        """Send and keep what is due."""
        now = self.clock()
        for bubble in self.bubbles.values():
            if now - bubble.flushed_at >= FLUSH_SECONDS:
                self._send(bubble, now)
        if self._unsaved and now - self.saved_at >= SAVE_SECONDS:
            self.saved_at, self._unsaved = now, False
            await sync_to_async(save_live)(self.claim, self.as_json())

    @property
    def _owes(self) -> bool:
        return self._unsaved or any(bubble.sent < len(bubble.text) for bubble in self.bubbles.values())

    async def _tell_rest(self) -> None:
        """A model that pauses, or writes long data behind a text, must not hold back the end of that text."""
        try:
            while self._owes:
                await asyncio.sleep(FLUSH_SECONDS)
                await self._tell()
        except Exception:
            logger.exception("Text could not be told while it was written; it comes with its part.")
        finally:
            self._rest = None

    def close(self) -> None:
        """The reply is over, however it ended."""
        if self._rest is not None:
            self._rest.cancel()

    def _send(self, bubble: Bubble, now: float) -> None:
        text = bubble.text[bubble.sent :]
        if text:
            deltas.publish(
                self.claim.session_pk, Delta(bubble.live, self.turn, bubble.part_type, bubble.sent, text)
            )
            bubble.sent, bubble.flushed_at = len(bubble.text), now

    def flush(self) -> None:
        """Send what is held back for pacing."""
        for bubble in self.bubbles.values():
            self._send(bubble, self.clock())

    def end(self, block: int) -> dict[int, str]:
        """The block is complete: its bubbles by part number, which are from now on the parts' own."""
        self.flush()
        self.streams.pop(block, None)
        ended = {part: bubble.live for (number, part), bubble in self.bubbles.items() if number == block}
        for part in ended:
            del self.bubbles[(block, part)]
        self._unsaved = self._unsaved and bool(self.bubbles)
        return ended

    def left(self) -> list[str]:
        """The bubbles that never became a part."""
        return sorted(bubble.live for bubble in self.bubbles.values())

    def partial(self) -> list[tuple[str, str, str]]:
        """``(live key, part type, text)`` of what is still being written."""
        return [
            (bubble.live, bubble.part_type, bubble.text)
            for bubble in self.bubbles.values()
            if bubble.text.strip()
        ]

    def as_json(self) -> JsonObject:
        return {
            b.live: {"turn": self.turn, "partType": b.part_type, "text": b.text}
            for b in self.bubbles.values()
        }
