"""The text of the reply that is being written: pushed as it grows, kept for whoever connects meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from asgiref.sync import sync_to_async

from envelopes.delivery.deltas import FLUSH_SECONDS, Delta, deltas
from envelopes.runtime.respond_stream import RespondStream
from envelopes.runtime.store import Claim, save_live
from envelopes.types import JsonObject

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

    def start(self, block: int) -> None:
        self.streams[block] = RespondStream()

    async def feed(self, block: int, fragment: str) -> None:
        """Take in more of the JSON text of the call in ``block``; send what of its text can be told."""
        grown = self.streams[block].feed(fragment)
        now = self.clock()
        for piece in grown:
            key = (block, piece.part)
            bubble = self.bubbles.get(key)
            if bubble is None:
                bubble = Bubble(f"L{self.prefix}-{block}-{piece.part}", piece.part_type)
                self.bubbles[key] = bubble
            bubble.text += piece.text
        for bubble in self.bubbles.values():
            # Also what an earlier fragment left: long data behind a text must not hold back its end.
            if now - bubble.flushed_at >= FLUSH_SECONDS:
                self._send(bubble, now)
        if grown and now - self.saved_at >= SAVE_SECONDS:
            self.saved_at = now
            await sync_to_async(save_live)(self.claim, self.as_json())

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
