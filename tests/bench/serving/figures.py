"""What becomes of many measurements: quantiles, a slope, and words for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean


def quantile(values: Iterable[float], share: float) -> float:
    """The value that `share` of all values are not above, of those that occur; NaN of none."""
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line that comes nearest to the points (least squares); 0 where they do not tell."""
    middle_x, middle_y = fmean([x for x, _ in points]), fmean([y for _, y in points])
    square = sum((x - middle_x) ** 2 for x, _ in points)
    if not square:
        return 0.0
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / square


def waits_between(times: Sequence[float], began: float, ended: float) -> list[float]:
    """The waits between what happened at `times` (in order) from `began` to `ended`, both ends included: whoever heard
    nothing waited all the time."""
    stops = [began, *times, ended]
    return [after - before for before, after in pairwise(stops)]


def us(seconds: float) -> str:
    """Microseconds, in words."""
    return f"{seconds * 1e6:,.0f} us"


def ms(seconds: float) -> str:
    """Milliseconds, in words."""
    return f"{seconds * 1e3:,.1f} ms"


def late(seconds: Sequence[float]) -> str:
    """How late something came: half of it, nearly all of it, all of it."""
    return f"p50 {ms(quantile(seconds, 0.5))}, p99 {ms(quantile(seconds, 0.99))}, most {ms(quantile(seconds, 1))}"
