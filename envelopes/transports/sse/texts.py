"""What a reader has of the texts that are being written, so that none of them gets a hole."""

from __future__ import annotations

from collections.abc import Callable

from envelopes.delivery import Item, PlacedDelta

AGAIN_SECONDS = 0.25
"""How often texts are asked for from their beginnings again: what others write is saved no more often (D35)."""


class Texts:
    """Text before a delta can be missing for a reader that came in the middle: of a text that ended just then, or that
    another process is ahead with. Such a delta is left out, and the text is asked for again; its part brings all of it.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._turn = 0
        self._lengths: dict[str, int] = {}
        self._has_hole = False
        self._due_at = 0.0

    def joins(self, item: Item) -> bool:
        """Whether the reader can take this: anything but text behind a hole."""
        if not isinstance(item, PlacedDelta):
            return True
        delta = item.delta
        if delta.turn > self._turn:
            self._turn = delta.turn
            self._lengths.clear()
        if delta.offset > self._lengths.get(delta.live, 0):
            self._has_hole = True
            return False
        self._lengths[delta.live] = delta.offset + len(delta.text)
        return True

    def ask_again(self) -> bool:
        """Whether texts have to be asked for again now: where one has a hole, and not at once after the last time."""
        if not self._has_hole or self._clock() < self._due_at:
            return False
        self._has_hole = False
        self._due_at = self._clock() + AGAIN_SECONDS
        return True
