"""Chart: bars, lines or areas as SVG, with the same as a table. A point that moves is one mark, and one cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from a2ui import ops
from a2ui.catalog.beach.cells import Write, writer
from a2ui.catalog.beach.columns import Column
from a2ui.catalog.beach.lists import items, items_shape
from a2ui.catalog.beach.marks import Before, Marks
from a2ui.catalog.beach.scale import Scale, scale
from a2ui.catalog.beach.series import Points, Reader, of_item, series, series_shape
from a2ui.catalog.kinds import enum, literal_number, literal_text, text
from a2ui.components import BaseComponent
from a2ui.functions.numbers import MAX_DECIMALS
from a2ui.journal import Journal
from a2ui.ops import Op
from a2ui.rendering.build import CHARS_AN_INSTANCE, Build, always, told
from a2ui.rendering.place import Memo, Place, Several
from a2ui.safety.text import clean_text, clip, escape
from a2ui.schema.dynamic import dynamic_value

_CLASSES: Mapping[str, str] = {
    "bar": "a2-chart a2-chart--bar",
    "line": "a2-chart a2-chart--line",
    "area": "a2-chart a2-chart--area",
    "sparkline": "a2-chart a2-chart--sparkline",
}
_KINDS: Mapping[str, str] = {
    "bar": "Bar chart", "line": "Line chart", "area": "Area chart", "sparkline": "Small line chart",
}  # fmt: skip
_EACH_NAMED = 12
"""Up to so many points, each has its name under it; of more, some have."""
_NAMES = 4
_TICK_CHARS = 16
_NOTHING = '<p class="a2-note">Nothing to show.</p>'
_WEIGHT = 20 * CHARS_AN_INSTANCE


class Drawn(NamedTuple):
    """A chart as it was sent: everything but the marks and words that may change alone, and these by their ids."""

    frame: str
    names: list[str]
    axis: Scale
    marks: Before
    words: dict[str, str]
    html: Callable[[], str]
    """The whole element."""


class Chart(BaseComponent):
    """One point for each item of a list, one value of it for each series. Whatever is seen is told in words as well."""

    name = "Chart"
    properties = {
        "type": enum("bar", "line", "area", "sparkline"),
        "data": items,
        "label": of_item,
        "series": series,
        "title": text,
        "currency": literal_text,
        "decimals": literal_number,
    }
    required = frozenset({"type", "data", "label", "series"})
    shapes = {"data": items_shape, "label": dynamic_value, "series": series_shape}
    interactive = True

    def build(self, build: Build) -> None:
        props, heard = build.props, told(build)
        kind = props.get("type", "bar")
        label, title, reader = always(build.labelled()), always(build.html("title")), Reader(build)
        names = [always(build.escaped(one.label, build)) for one in props.get("series", ())]
        numbers = _Numbers(build)
        opened = f'" class="{build.classes(_CLASSES[kind])}"{build.role()}{heard}'
        build.weight += _WEIGHT

        def draw(scope: Any, context: str, before: Drawn | None) -> Drawn:
            dom_id = f"{build.id}{context}"
            points = reader.points(scope)
            told_as = [name(scope) for name in names]
            named = label(scope)
            return _drawn(dom_id, opened + named, kind, title(scope), told_as, points, numbers, before)

        build.memo(_Memo(build.place, draw, build.view.journal))


_Draw = Callable[[Any, str, Drawn | None], Drawn]
"""(scope, context, how the instance was drawn before) -> how it is drawn now."""


class _Memo(Memo):
    """Remembers what each instance shows, mark by mark, and sends those that are different."""

    __slots__ = ("_draw",)

    def __init__(self, place: Place, draw: _Draw, journal: Journal) -> None:
        super().__init__(place, lambda scope, context: draw(scope, context, None).html(), journal)
        self._draw = draw
        self.shown: dict[str, Any] = {}

    def render(self, scope: Any, context: str) -> str:
        return self._look(scope, context).html()

    def _look(self, scope: Any, context: str) -> Drawn:
        drawn = self._draw(scope, context, self.shown.get(context))
        if self._journal.on:
            self._journal.item(self.shown, context)
        self.shown[context] = drawn
        return drawn

    def emit(self, scope: Any, context: str) -> Op | Several | None:
        before: Drawn | None = self.shown.get(context)
        now = self._look(scope, context)
        if before is None or before.frame != now.frame or before.names != now.names:
            # Morphed, so that a table that somebody has opened stays open.
            return ops.morph(self.place.prefix + context, now.html())
        old, new = before.marks.marks, now.marks.marks
        changed = [ops.replace(name, mark) for name, mark in new.items() if mark != old[name]]
        changed += [ops.text(name, words) for name, words in now.words.items() if words != before.words[name]]
        return Several(changed) if changed else None


class _Numbers:
    """How the values of a chart are written, and the ticks of its axis."""

    def __init__(self, build: Build) -> None:
        props, decimals = build.props, build.props.get("decimals")
        self.decimals = int(decimals) if decimals is not None and 0 <= decimals <= MAX_DECIMALS else None
        self._currency, self._env, self._work = (
            props.get("currency", ""),
            build.options.env,
            build.compiler.work,
        )
        self._write = self._writer(self.decimals)
        # All points are looked at when one of them moves.
        self._number = lru_cache(maxsize=2 * build.options.limits.points)(self._write)

    def _writer(self, decimals: int | None) -> Write:
        kind = "currency" if self._currency else "number"
        return writer(Column("", None, kind, decimals=decimals, currency=self._currency), self._env)

    def words(self, value: Any) -> str:
        if type(value) is float or type(value) is int:
            return self._number(value)
        if type(value) is dict or type(value) is list:
            return clean_text(self._work.json(value))
        return clean_text(clip(self._write(value), 200)[0])

    def ticks(self, axis: Scale) -> list[str]:
        """Of round numbers, only as many decimals as they differ by."""
        needed = min(axis.decimals, MAX_DECIMALS) if self.decimals is None else self.decimals
        return [clip(word, _TICK_CHARS)[0] for word in map(self._writer(needed), axis.ticks)]


def _drawn(
    dom_id: str,
    opened: str,
    kind: str,
    title: str,
    names: list[str],
    points: Points,
    numbers: _Numbers,
    was: Drawn | None,
) -> Drawn:
    """The chart of one instance, as `was` where nothing has changed; `title` and `names` are escaped."""
    caption = f'<figcaption class="a2-chart__title">{title}</figcaption>' if title else ""
    known = [value for values in points.values for value in values if value is not None]
    axis = scale(known, from_zero=kind in ("bar", "area"), decimals=numbers.decimals)
    if not points.names:
        whole = f'<figure id="{dom_id}{opened}>{caption}{_notice(points) or _NOTHING}</figure>'
        return Drawn(whole, [], axis, Before([], [], {}), {}, lambda: whole)
    texts = [[numbers.words(value) for value in values] for values in points.said]
    drawing = Marks(dom_id, kind, axis, len(points.names), points.names)
    same = was is not None and was.axis == axis and was.names == points.names
    marks = drawing.all(points.values, texts, was.marks if was is not None and same else None)
    words = {f"{dom_id}-xs": _summary(kind, points, known, numbers.words)}
    for at, values in enumerate(texts):
        words.update({f"{dom_id}-xt{at}-{n}": value for n, value in enumerate(values)})
    crowded = drawing.crowded(len(names))
    plot = _plot(dom_id, kind, numbers.ticks(axis), crowded=crowded)
    before = f'<figure id="{dom_id}{opened}>{caption}{_legend(kind, names)}{plot}'
    after = f"</svg>{_below(kind, points.names)}</div>{_notice(points)}"

    def html() -> str:
        table = _table(dom_id, title, names, points.names, words, open_=kind != "sparkline")
        summary = f'<p class="b-sr" id="{dom_id}-xs">{escape(words[f"{dom_id}-xs"])}</p>'
        return f"{before}{''.join(marks.values())}{after}{summary}{table}</figure>"

    return Drawn(f"{before}\0{after}", points.names, axis, Before(points.values, texts, marks), words, html)


def _legend(kind: str, names: list[str]) -> str:
    if len(names) < 2:
        return ""
    # As the marks are drawn.
    mark = '<rect width="24" height="12" class="' if kind == "bar" else '<path d="M0 6H32" class="a2-line '
    opened = '<li><svg class="a2-legend__mark" viewBox="0 0 32 12">' + mark
    entries = "".join(
        [f'{opened}a2-s{at % Marks.LOOKS}"/></svg><span>{name}</span></li>' for at, name in enumerate(names)]
    )
    return f'<ul class="a2-legend" aria-hidden="true">{entries}</ul>'


def _plot(dom_id: str, kind: str, ticks: list[str], *, crowded: bool) -> str:
    steps = len(ticks) - 1
    lines = "".join(
        [
            f'<path class="a2-grid" d="M0 {round(at * Marks.HIGH / steps)}H{Marks.WIDE}"/>'
            for at in range(steps + 1)
        ]
    )
    axis = "".join([f"<li>{escape(tick)}</li>" for tick in reversed(ticks)])
    css = "a2-plot__in is-crowded" if crowded else "a2-plot__in"
    axes = f'<ol class="a2-plot__y" aria-hidden="true">{axis}</ol>' if kind != "sparkline" else ""
    return (
        f'<div class="a2-plot">{axes}<svg class="{css}" role="img" aria-labelledby="{dom_id}-xs"'
        f' viewBox="0 0 {Marks.WIDE} {Marks.HIGH}" preserveAspectRatio="none">'
        f"{lines if kind != 'sparkline' else ''}"
    )


def _below(kind: str, names: list[str]) -> str:
    """The names under the points, or some of them."""
    if kind == "sparkline":
        return ""
    if len(names) <= _EACH_NAMED:
        shown, css = names, "a2-plot__x"
    else:
        last = len(names) - 1
        shown, css = (
            [names[round(at * last / (_NAMES - 1))] for at in range(_NAMES)],
            "a2-plot__x a2-plot__x--some",
        )
    entries = "".join([f"<li><span>{escape(name)}</span></li>" for name in shown])
    return f'<ol class="{css}" aria-hidden="true">{entries}</ol>'


def _notice(points: Points) -> str:
    if points.left_out:
        count = len(points.names)
        return f'<p class="a2-note" role="note">{count:,} of {count + points.left_out:,} points shown</p>'
    return ""


def _summary(kind: str, points: Points, known: list[float], write: Callable[[Any], str]) -> str:
    """What is seen at a glance, in words."""
    count = len(points.names)
    said = f"{_KINDS[kind]}, {count} point{'' if count == 1 else 's'}"
    if count > 1:
        said += f" from {points.names[0]} to {points.names[-1]}"
    return f"{said}. Lowest {write(min(known))}, highest {write(max(known))}." if known else f"{said}."


def _table(
    dom_id: str, title: str, names: list[str], points: list[str], words: dict[str, str], *, open_: bool
) -> str:
    heads = "".join([f'<th scope="col" class="is-num">{name}</th>' for name in names])
    rows = "".join(
        [
            f'<tr><th scope="row">{escape(point)}</th>'
            + "".join(
                [
                    f'<td id="{dom_id}-xt{at}-{n}" class="is-num">{escape(words[f"{dom_id}-xt{at}-{n}"])}</td>'
                    for at in range(len(names))
                ]
            )
            + "</tr>"
            for n, point in enumerate(points)
        ]
    )
    named = f' aria-label="{title}"' if title else ' aria-label="Data"'
    table = f'<table class="a2-table"{named}><thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    if not open_:
        return f'<div class="b-sr">{table}</div>'
    return (
        '<details class="a2-chart__data"><summary>Show as a table</summary>'
        f'<div class="a2-tablewrap" role="region" tabindex="0"{named}>{table}</div></details>'
    )
