"""Small charts, drawn here: SVG of attributes and classes. Lengths are in percent: they stretch, words keep their size.

What a chart shows is also said in words, as its label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envelopes.markup.html import NOTHING, SafeString, html, join

_TOP, _BASE, _LEFT = 10.0, 84.0, 8.0
"""Where the axis ends and begins, in percent of the height, and where the plot begins, in percent of the width."""
_MARKS = ("is-a", "is-b", "is-c")


@dataclass(frozen=True)
class Bar:
    """One place of the axis; ``values`` are stacked in the order of the legend. ``now``: it is the running one."""

    name: str
    values: tuple[int, ...]
    now: bool = False

    @property
    def total(self) -> int:
        return sum(self.values)


def bars(series: Sequence[Bar], label: str) -> SafeString:
    """Stacked bars over named places, with an axis of round numbers. ``label`` says what there is to see."""
    ticks = _ticks(max((one.total for one in series), default=0))
    top = ticks[-1]
    pieces = [_tick(value / top, _round(value)) for value in ticks]
    step = (100 - _LEFT) / max(1, len(series))
    for number, one in enumerate(series):
        left, at = _LEFT + step * (number + 0.24), 0.0
        for mark, value in zip(_MARKS, one.values, strict=False):
            if value:
                height = (_BASE - _TOP) * value / top
                pieces.append(_bar(mark, left, _BASE - at - height, step * 0.52, height))
                at += height
        # Of many places every other one is named.
        if len(series) <= 12 or number % 2 == (len(series) - 1) % 2:
            pieces.append(
                html(
                    '<text class="is-mid{}" x="{}%" y="{}%" dy="17">{}</text>',
                    " is-now" if one.now else "",
                    f"{left + step * 0.26:.2f}",
                    _BASE,
                    one.name,
                )
            )
    return html('<svg class="dk-chart" role="img" aria-label="{}">{}</svg>', label, join(pieces))


def _round(value: int) -> str:
    """A number of an axis, as short as there is room for it: ``250``, ``2.5k``, ``100k``, ``4M``."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return str(value)


def spark(values: Sequence[int]) -> SafeString:
    """Seven or so small bars beside a figure; nothing that the figure does not say, and nothing at all of nothing."""
    top = max(values, default=0)
    if top <= 0:
        return NOTHING
    width = 72 / max(1, len(values))
    drawn = join(
        html(
            '<rect x="{}" y="{}" width="{}" height="{}" rx="1"/>',
            f"{number * width + 1:.1f}",
            f"{28 - max(1.5, 26 * value / top):.1f}",
            f"{width - 2:.1f}",
            f"{max(1.5, 26 * value / top):.1f}",
        )
        for number, value in enumerate(values)
    )
    return html('<svg class="dk-spark" viewBox="0 0 72 28" aria-hidden="true">{}</svg>', drawn)


@dataclass(frozen=True)
class Bin:
    """One row of a distribution. ``mark``: ``mid`` for the one that holds the median, ``none`` for what is no value."""

    name: str
    count: int
    bar: SafeString
    mark: str = ""


def bins(counts: Sequence[tuple[str, int, str]]) -> list[Bin]:
    """Rows of name, count and mark, with bars in proportion."""
    top = max((count for _, count, _ in counts), default=0) or 1
    return [
        Bin(
            name,
            count,
            html(
                '<svg aria-hidden="true"><rect x="0.5" y="0.5" width="{}%" height="9" rx="2"/></svg>',
                f"{98 * count / top:.0f}" if count else "0",
            ),
            mark,
        )
        for name, count, mark in counts
    ]


def _ticks(most: int) -> list[int]:
    """Round numbers from nought to what is at least ``most``, four steps or fewer."""
    power = 10 ** max(0, len(str(max(1, most))) - 2)
    step = next(
        size * times for size in (power, power * 10) for times in (1, 2, 5) if 4 * size * times >= most
    )
    return [step * number for number in range(max(1, -(-most // step)) + 1)]


def _tick(share: float, name: str) -> SafeString:
    y = f"{_BASE - (_BASE - _TOP) * share:.1f}"
    return html(
        '<line class="{}" x1="{}%" x2="100%" y1="{}%" y2="{}%"/><text class="is-end" x="{}%" y="{}%" dy="4">{}</text>',
        "is-grid" if share else "is-base",
        _LEFT,
        y,
        y,
        _LEFT - 2,
        y,
        name,
    )


def _bar(mark: str, x: float, y: float, width: float, height: float) -> SafeString:
    return html(
        '<rect class="{}" x="{}%" y="{}%" width="{}%" height="{}%" rx="2"/>',
        mark,
        f"{x:.2f}",
        f"{y:.2f}",
        f"{width:.2f}",
        f"{max(0.8, height - 0.9):.2f}",
    )
