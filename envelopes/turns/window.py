"""Which of the turns before one its model reads: whole turns, the newest ones, within a budget.

What is cut is cut in lumps: once there is too much, half of it goes, and then nothing for a while. So what a model was
sent before is, word for word, the beginning of what it is sent next, and its side can keep that ready (prompt caching).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from envelopes.providers.estimating import tokens_in

EARLIER_TURNS = 40
"""Turns before one that a model reads at most; with more, half as many."""


class Sized(Protocol):
    """A turn as far as it matters here. ``told_from``: the first turn that its own model read of, 0 where that is not
    known."""

    number: int
    size: int
    told_from: int


def first_told(turns: Sequence[Sized], *, most_turns: int, most_tokens: int) -> int:
    """The place in ``turns``, oldest first, of the first one that is told.

    Where the last ones began is kept, until they are too many or too long; then they begin anew with so many as are
    half of what may be. The newest is told in any case.
    """
    since = max((turn.told_from for turn in turns), default=0)
    start = next((place for place, turn in enumerate(turns) if turn.number >= since), len(turns))
    if _fits(turns[start:], most_turns, most_tokens):
        return start
    while start < len(turns) - 1 and not _fits(turns[start:], most_turns // 2, most_tokens // 2):
        start += 1
    return start


def _fits(turns: Sequence[Sized], most_turns: int, most_tokens: int) -> bool:
    return len(turns) <= most_turns and tokens_in(sum(turn.size for turn in turns)) <= most_tokens
