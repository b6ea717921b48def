"""The marks of a chart, in a view box that is stretched: lines and dots keep their width by their style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from a2ui.catalog.beach.scale import Scale
from a2ui.safety.text import escape

_CLASSES = ("a2-s0", "a2-s1", "a2-s2", "a2-s3", "a2-s4", "a2-s5")
"""The looks of series: each has a colour and a pattern of its own."""
_GROUP = 0.72
"""The part of the room of a point that its bars take."""
_DOTTED = 60
"""Points of a line that have dots; of more they would be a line themselves."""


_CROWDED = 120
"""Bars of a chart whose edges would cover each other; of more, they have none."""


class Before(NamedTuple):
    """What was drawn before, of as many points and series, with the same names and the same axis."""

    values: list[list[float | None]]
    texts: list[list[str]]
    marks: dict[str, str]


class Marks:
    """Draws the series of one chart."""

    WIDE: ClassVar[int] = 1_000
    HIGH: ClassVar[int] = 400
    LOOKS: ClassVar[int] = len(_CLASSES)

    def __init__(self, dom_id: str, kind: str, axis: Scale, count: int, names: Sequence[str]) -> None:
        self._id = dom_id
        self._kind = kind
        self._axis = axis
        self._count = max(1, count)
        self._names = names

    def all(
        self, values: list[list[float | None]], texts: list[list[str]], before: Before | None = None
    ) -> dict[str, str]:
        """The elements by their ids; those of `before` where nothing has moved."""
        found = {} if before is None else dict(before.marks)
        for at, (one, said) in enumerate(zip(values, texts, strict=True)):
            moved = range(len(one)) if before is None else _moved(before, at, one, said)
            if not moved:
                continue
            if self._kind == "bar":
                found.update(self._bars(at, one, said, len(values), moved))
            else:
                found.update(self._line(at, one))
                if self._kind != "sparkline" and len(one) <= _DOTTED:
                    found.update(self._dots(at, one, said, moved))
        return found

    def crowded(self, series: int) -> bool:
        """Whether bars are so many that there is no room for their edges."""
        return self._kind == "bar" and self._count * series > _CROWDED

    def _x(self, at: float) -> str:
        return _short((at + 0.5) * self.WIDE / self._count)

    def _y(self, value: float) -> float:
        return round((1 - self._axis.share(value)) * self.HIGH, 1)

    def _bars(
        self, series: int, values: list[float | None], said: list[str], of: int, moved: Sequence[int]
    ) -> dict[str, str]:
        room = self.WIDE / self._count
        width = room * _GROUP / of
        first = room * (1 - _GROUP) / 2 + series * width
        base = self._y(min(max(0.0, self._axis.low), self._axis.high))
        opened = f'" class="{_CLASSES[series % self.LOOKS]}" width="{_short(width * 0.9)}" x="'
        found = {}
        for n in moved:
            name, value = f"{self._id}-xb{series}-{n}", values[n]
            end = base if value is None else self._y(value)
            found[name] = (
                f'<rect id="{name}{opened}{_short(n * room + first)}" y="{_short(min(base, end))}"'
                f' height="{_short(abs(base - end))}">{self._title(n, said)}</rect>'
            )
        return found

    def _line(self, series: int, values: list[float | None]) -> dict[str, str]:
        """One path for all points, with gaps where there is no value; of an area one more below it."""
        css = _CLASSES[series % self.LOOKS]
        runs: list[list[str]] = [[]]
        for n, value in enumerate(values):
            if value is None:
                runs.append([])
            else:
                runs[-1].append(f"{self._x(n)} {_short(self._y(value))}")
        drawn = [run for run in runs if run]
        line = f"{self._id}-xl{series}"
        found = {}
        if self._kind == "area":
            base = _short(self._y(min(max(0.0, self._axis.low), self._axis.high)))
            areas = "".join(
                [f"M{run[0].split()[0]} {base}L{'L'.join(run)}L{run[-1].split()[0]} {base}Z" for run in drawn]
            )
            area = f"{self._id}-xa{series}"
            found[area] = f'<path id="{area}" class="a2-area {css}" d="{areas}"/>'
        # A point between two gaps is a line of no length, which round ends make a dot.
        lines = "".join([f"M{'L'.join(run)}" + ("h0" if len(run) == 1 else "") for run in drawn])
        found[line] = f'<path id="{line}" class="a2-line {css}" d="{lines}"/>'
        return found

    def _dots(
        self, series: int, values: list[float | None], said: list[str], moved: Sequence[int]
    ) -> dict[str, str]:
        found = {}
        for n in moved:
            name, value = f"{self._id}-xd{series}-{n}", values[n]
            at = "" if value is None else f"M{self._x(n)} {_short(self._y(value))}h0"
            css = _CLASSES[series % self.LOOKS]
            found[name] = f'<path id="{name}" class="a2-dot {css}" d="{at}">{self._title(n, said)}</path>'
        return found

    def _title(self, n: int, said: list[str]) -> str:
        return f"<title>{escape(self._names[n])}: {escape(said[n])}</title>"


def _moved(before: Before, series: int, values: list[float | None], said: list[str]) -> list[int]:
    """The points of a series that are drawn otherwise than before."""
    old, told = before.values[series], before.texts[series]
    if old == values and told == said:
        return []
    return [n for n, value in enumerate(values) if value != old[n] or said[n] != told[n]]


def _short(value: float) -> str:
    text = f"{value:.1f}"
    return text.removesuffix(".0")
