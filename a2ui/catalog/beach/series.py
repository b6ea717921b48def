"""What a chart shows: its points, read from the items of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from a2ui.binding.parsing import parse
from a2ui.binding.reading import Getter, ReadRecorder
from a2ui.binding.secrets import show
from a2ui.binding.values import Value
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.beach.lists import Member, listed
from a2ui.catalog.beach.scale import MOST
from a2ui.errors import LimitError
from a2ui.functions.convert import to_number
from a2ui.safety.text import clean_text, clip
from a2ui.schema import shapes
from a2ui.schema.dynamic import dynamic_string, dynamic_value

if TYPE_CHECKING:
    from a2ui.rendering.build import Build

_NAME_CHARS = 200
VALUES_A_POINT = 10
"""Values of a chart, for each point that it may have: with more series than that it has fewer points."""


class Series(NamedTuple):
    """One series: what it is called, and its value in an item."""

    label: Value
    value: Value


def series(raw: Any, where: AcceptContext) -> Any:
    """A tuple of Series."""
    return listed(raw, where, "series", _series)


def _series(given: Member) -> Series:
    given.only(("label", "value"))
    return Series(given.text("label"), given.value("value"))


def of_item(raw: Any, where: AcceptContext) -> Any:
    """A dynamic value that is looked up in each item."""
    return parse(raw, where)


series_shape = shapes.list_of(shapes.record({"label": dynamic_string, "value": dynamic_value}), at_least=1)


class Points(NamedTuple):
    """All that is drawn: names of the points, and for each series its values by point, None where there is none."""

    names: list[str]
    values: list[list[float | None]]
    said: list[list[Any]]
    """The values as they came, which is what is written of them."""
    left_out: int
    """Points beyond the limit."""


class Reader:
    """Reads the points of one place of a chart."""

    def __init__(self, build: Build) -> None:
        props = build.props
        self._build = build
        self._rows = build.compiler.getter(props.get("data"), build)
        self._name = self._in_item(props.get("label"))
        self._values = [self._in_item(one.value) for one in props.get("series", ())]

    def _in_item(self, value: Value) -> Getter:
        build = self._build
        recorder = ReadRecorder(build.component_id, build.report, asks=False)
        getter = build.compiler.getter(value, recorder)
        for read, known in recorder.reads.items():
            # What is relative is part of the list, which is read as a whole.
            if read[1]:
                build.reads.setdefault(read, known)
        return getter

    def points(self, scope: Any) -> Points:
        """The points now; the first ones where there are more than the limit, with a report."""
        build = self._build
        found, points, work = self._rows(scope), build.options.limits.points, build.compiler.work
        items: list[Any] = found if isinstance(found, list) else []
        # Each value is a mark and a cell.
        most = min(points, max(1, VALUES_A_POINT * points // max(1, len(self._values))))
        if len(items) > most:
            of = f" of {len(self._values)} series" if most < points else ""
            message = f"A chart{of} has at most {most} points; the rest is left out. Send fewer."
            build.failed(LimitError(message, limit="points", allowed=most, got=len(items)))
        left_out, items = max(0, len(items) - most), items[:most]
        if not (work.argument(items) and work.drawn(len(items) * len(self._values))):
            build.failed(work.refusal("Chart"))
            left_out, items = left_out + len(items), []
        names = [clean_text(clip(show(self._name(item), work), _NAME_CHARS)[0]) for item in items]
        said = [[value(item) for item in items] for value in self._values]
        return Points(names, [[_number(one) for one in values] for values in said], said, left_out)


def _number(value: Any) -> float | None:
    if type(value) is float or type(value) is int:
        return value if -MOST < value < MOST else None
    found = None if isinstance(value, bool) else to_number(value)
    return found if found is None or -MOST < found < MOST else None
