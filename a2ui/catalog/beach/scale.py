"""The value axis of a chart: round ticks around the values.

Twenty lines of our own: the libraries that have this bring numpy and a drawing canvas along.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

_TICKS = 4
_STEPS = (1, 2, 5, 10)
MOST = 1e100
"""Larger numbers are written and not drawn: differences of them may be more than a number can be."""
_LEAST = 1e-100
"""Smaller differences are none: their parts may be less than a number can be."""


class Scale(NamedTuple):
    """From `low` to `high`, with round values on the way, both ends included."""

    low: float
    high: float
    ticks: tuple[float, ...]
    decimals: int
    """So many are needed to tell the ticks apart."""

    def share(self, value: float) -> float:
        """Where a value stands, 0 at the low end and 1 at the high one."""
        return (value - self.low) / (self.high - self.low)


def scale(values: Sequence[float], *, from_zero: bool, decimals: int | None = None) -> Scale:
    """The scale of these values; `from_zero`: the length of what is drawn stands for its value; `decimals`: ticks are
    written with so many, and no two of them alike."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < _LEAST:
        low, high = (low - abs(low) / 2, high + abs(high) / 2) if abs(low) > _LEAST else (0.0, 1.0)
    least = 0.0 if decimals is None else 10.0**-decimals
    rough = max((high - low) / _TICKS, least)
    power = 10.0 ** floor(log10(rough))
    step = next(power * times for times in _STEPS if power * times >= rough * (1 - 1e-9))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    needed = max(0, -floor(log10(step) + 1e-9))
    ticks = tuple(round(at * step, needed) + 0.0 for at in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks, needed)
