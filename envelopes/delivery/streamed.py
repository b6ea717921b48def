"""Streamed text on its way to one reader: rows and text may come by different ways, and neither waits for the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from envelopes.delivery.deltas import Delta
from envelopes.protocol.bubbles import ENDED, place_of

HELD = 256
"""At most this many deltas wait for their place; the oldest go first, since the part that they belong to is a row."""

WAITING = 512
WAITING_CHARACTERS = 131_072
"""At most so much text waits for a reader that takes none: of more, all is left out, and comes again from its beginning
when the reader goes on."""

NOWHERE: tuple[int, ...] = ()
_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a turn stands for streamed text at the last row that the reader has.

    ``place``: what its text goes into, None while there is nothing. ``over``: text up to this place in the turn is over
    (``place_of``).
    """

    place: str | None
    over: tuple[int, ...] = NOWHERE


@dataclass(slots=True, unsafe_hash=True)
class PlacedDelta:
    """Text that can be shown now: ``place`` is something that the reader has. Not frozen, as a ``Delta`` is not."""

    delta: Delta
    place: str


class StreamedText:
    """Text that came and was not handed on yet.

    It goes on at once, unless rows are due that were made before it: these go first. Text without a place waits for the
    row that makes one; text that a row has ended is dropped, however late it comes. ``lost``: some was left out, so all
    of it has to be told from the beginning (``whole``).
    """

    def __init__(self, wanted: Callable[[str], bool]) -> None:
        """``wanted``: whether the reader gets text of a part type while it is being written."""
        self._wanted = wanted
        self.lost = False
        self._texts: list[Delta] = []
        self._characters = 0
        self._turns: dict[int, Standing] = {}
        self._ended = _NONE
        # How many of the texts came before the rows that are due, and before those that are due after these.
        self._before: int | None = None
        self._next: int | None = None
        self._reading = False

    @property
    def turns(self) -> set[int]:
        """The turns of which it has to be told where they stand: those that go on, and any that text has come for."""
        return {delta.turn for delta in self._texts} | self._turns.keys()

    def came(self, delta: Delta) -> bool:
        """Whether there may be something to hand on now."""
        if not self._wanted(delta.part_type):
            return False
        self._texts.append(delta)
        self._characters += len(delta.text)
        if len(self._texts) > WAITING or self._characters > WAITING_CHARACTERS:
            self._leave_out()
        return True

    @property
    def is_idle(self) -> bool:
        """Whether nothing that is here goes before what comes now."""
        return not (self._texts or self.lost or self._before is not None or self._reading)

    def placed(self, delta: Delta) -> PlacedDelta | None:
        """``delta``, which was not given to ``came``, where it can be shown now."""
        if not self.is_idle:
            return None
        turn = self._turns.get(delta.turn)
        if turn is None or turn.place is None or place_of(delta.live) <= turn.over:
            return None
        return PlacedDelta(delta, turn.place) if self._wanted(delta.part_type) else None

    def _leave_out(self) -> None:
        self._texts.clear()
        self._characters = 0
        self._before = None if self._before is None else 0
        self._next = None if self._next is None else 0
        self.lost = True

    def knows(self, turn: int) -> bool:
        """Whether it was told where ``turn`` stands, and has not forgotten it since, as it does with those that end."""
        return turn in self._turns

    def due(self) -> None:
        """Rows are due: what comes from now on stands behind them."""
        if self._reading:
            self._next = len(self._texts) if self._next is None else self._next
        elif self._before is None:
            self._before = len(self._texts)

    def reading(self) -> None:
        """The rows that are due are being read."""
        self._reading = True

    def failed(self) -> None:
        """They could not be read, or not all of them: they are still due."""
        self._before = self._next if self._before is None else self._before
        self._reading, self._next = False, None

    def read(self, turns: Mapping[int, Standing]) -> None:
        """The reader has the rows that were due; ``turns`` is where turns stand with the last of them."""
        self._reading, self._before, self._next = False, self._next, None
        for turn, stands in turns.items():
            now, known = stands, self._turns.get(turn)
            if known is not None:
                now = Standing(now.place, max(now.over, known.over))
            self._turns[turn] = now
            if now.over >= ENDED:
                self._ended |= {turn}

    def whole(
        self, saved: Iterable[Delta], told: Iterable[Delta], turns: Mapping[int, Standing]
    ) -> list[PlacedDelta]:
        """Texts from their beginnings, for a reader that begins where ``turns`` stand so: as they were ``told`` in this
        process, else as they were ``saved``, which is older. Of what has come meanwhile, what joins them
        stays: the beginning of anything else is gone, as its text has just ended, or is saved nowhere yet."""
        texts = {delta.live: delta for delta in (*saved, *told)}
        found = [
            PlacedDelta(delta, stands.place)
            for delta in texts.values()
            if (stands := turns.get(delta.turn)) is not None
            and stands.place is not None
            and place_of(delta.live) > stands.over
            and self._wanted(delta.part_type)
        ]
        self._leave_out_ends({each.delta.live: len(each.delta.text) for each in found})
        self._forget_ended()
        return found

    def _leave_out_ends(self, lengths: dict[str, int]) -> None:
        """Of what has come and joins nothing: the reader has so much of each text, and else nothing."""
        kept: list[bool] = []
        for delta in self._texts:
            joins = delta.offset <= lengths.get(delta.live, 0)
            kept.append(joins)
            if joins:
                lengths[delta.live] = max(lengths.get(delta.live, 0), delta.offset + len(delta.text))
        self._before = None if self._before is None else sum(kept[: self._before])
        self._next = None if self._next is None else sum(kept[: self._next])
        self._texts = [delta for delta, is_kept in zip(self._texts, kept, strict=True) if is_kept]
        self._characters = sum(len(delta.text) for delta in self._texts)

    def take(self) -> list[PlacedDelta]:
        """What can be shown now, in the order in which it was written."""
        ready = len(self._texts) if self._before is None else self._before
        texts, held = [], []
        for delta in self._texts[:ready]:
            turn = self._turns.get(delta.turn)
            if turn is not None and place_of(delta.live) <= turn.over:
                continue
            if turn is None or turn.place is None:
                held.append(delta)
            else:
                texts.append(PlacedDelta(delta, turn.place))
        held = held[-HELD:]
        self._texts[:ready] = held
        self._characters = sum(len(delta.text) for delta in self._texts)
        gone = ready - len(held)
        if self._before is not None:
            self._before -= gone
        if self._next is not None:
            self._next -= gone
        self._forget_ended()
        return texts

    def _forget_ended(self) -> None:
        """Of turns that have ended and have nothing here any more it is not kept where they stand."""
        if not self._ended:
            return
        waiting = {delta.turn for delta in self._texts}
        over = self._ended - waiting
        # The empty one is one for all; what is left of a larger one would not be.
        self._ended = self._ended & waiting or _NONE
        for number in over:
            self._turns.pop(number, None)
        if not self._turns:
            # One that had something keeps the room for it.
            self._turns = {}
