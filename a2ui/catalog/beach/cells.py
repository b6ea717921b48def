"""The cells of a table: how the value of a column becomes text and HTML."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from a2ui import ops
from a2ui.binding.reading import Getter, ReadRecorder
from a2ui.binding.secrets import is_secret, show
from a2ui.catalog.beach.columns import NUMERIC, Column
from a2ui.catalog.icons import UI_CHECK
from a2ui.functions.convert import to_decimal, to_number
from a2ui.functions.dates import DATES, parse_date
from a2ui.functions.locales import find_locale
from a2ui.functions.numbers import currency_formatter, number_formatter
from a2ui.functions.registry import Env
from a2ui.functions.results import to_truth
from a2ui.ops import Op
from a2ui.rendering.build import LONG, shortened
from a2ui.safety.text import clean_text, escape, number_text
from a2ui.safety.urls import safe_link

if TYPE_CHECKING:
    from a2ui.rendering.build import Build

_FORMAT_DATE = DATES[0]
_LINK_END = ' rel="noopener noreferrer nofollow" target="_blank">'
_TEXTS = frozenset({"text", "number", "currency", "date"})
"""Types whose cells hold text and nothing else."""

Write = Callable[[Any], str]
"""The value of a cell -> its text."""


def writer(column: Column, env: Env) -> Write:
    """How values of a column are written; what is no number, or no date, stands as it is."""
    if column.type in NUMERIC:
        formatter = (
            currency_formatter(env.locale, column.currency, column.decimals, grouping=True)
            if column.currency
            else number_formatter(env.locale, column.decimals, grouping=True)
        )

        def number(value: Any) -> str:
            found = None if type(value) is bool else to_decimal(value)
            return show(value) if found is None else formatter(found)

        return number
    if column.type == "date":
        pattern = column.format or _medium(env.locale)

        def date(value: Any) -> str:
            return str(_FORMAT_DATE.evaluate({"value": value, "format": pattern}, env)) or show(value)

        return date
    return show


@cache
def _medium(locale: str) -> str:
    return str(find_locale(locale).date_formats["medium"].pattern)


class Cell(NamedTuple):
    """One column, compiled: `html` is the cell of an item, behind the id of its row up to its end."""

    column: Column
    at: int
    recorder: ReadRecorder
    html: Callable[[Any, str], str]
    """(the item, DOM id of the row) -> the element."""
    emit: Callable[[Any, str], Op]
    """(the same) -> the fragment that brings it up to date."""


def cell(build: Build, column: Column, at: int, recorder: ReadRecorder) -> Cell:
    """Compiles a column for rows whose values are read by `recorder`."""
    get = build.compiler.getter(column.value, recorder)
    url = build.compiler.getter(column.url, recorder) if column.url is not None else None
    tag = "th" if column.header else "td"
    opened = f'-x{at}"{" scope=" + chr(34) + "row" + chr(34) if column.header else ""}{_look(column)}'
    write, limit = writer(column, build.options.env), build.options.limits.text_chars
    work, spend = build.compiler.work, build.spend

    def words(value: Any) -> str:
        found = write(value) if type(value) is not dict and type(value) is not list else show(value, work)
        if len(found) > LONG:
            found = shortened(found, limit if spend(len(found)) else LONG, recorder)
        return clean_text(found)

    inside = _insides(column, words, url)
    order = _order(column) if column.sortable else None

    def html(item: Any, row_id: str) -> str:
        value = get(item)
        key = f' data-v="{escape(order(value))}"' if order is not None else ""
        return f'<{tag} id="{row_id}{opened}{key}>{inside(value, item)}</{tag}>'

    def emit(item: Any, row_id: str) -> Op:
        dom_id = f"{row_id}-x{at}"
        if order is None and column.type in _TEXTS:
            return ops.text(dom_id, words(get(item)))
        return ops.replace(dom_id, html(item, row_id))

    return Cell(column, at, recorder, html, emit)


_TONES = {
    "neutral": "a2-status a2-status--neutral",
    "info": "a2-status a2-status--info",
    "success": "a2-status a2-status--success",
    "warning": "a2-status a2-status--warning",
    "critical": "a2-status a2-status--critical",
}
_ALIGNS = {"start": "is-start", "center": "is-center", "end": "is-end"}


def _look(column: Column) -> str:
    usual = "end" if column.type in NUMERIC else "start"
    names = ["is-num"] if column.type in NUMERIC else ["is-day"] if column.type == "date" else []
    if column.align != usual:
        names.append(_ALIGNS[column.align])
    css = " ".join(names)
    return f' class="{css}"' if css else ""


def look(column: Column) -> str:
    """The class of a heading, which stands as its cells do."""
    return _look(column)


def _insides(column: Column, words: Write, url: Getter | None) -> Callable[[Any, Any], str]:
    """(value, item) -> the safe HTML inside of a cell."""
    if column.type == "boolean":
        return lambda value, _: "" if value is None else _yes_or_no(to_truth(value))
    if column.type == "status":
        tones = column.tones

        def status(value: Any, _: Any) -> str:
            text = words(value)
            css = _TONES[tones.get(text, "neutral")]
            return f'<span class="{css}">{escape(text)}</span>' if text else ""

        return status
    if column.type == "link":

        def link(value: Any, item: Any) -> str:
            text = words(value)
            href = safe_link(url(item) if url is not None else value)
            if href is None or not text:
                return escape(text)
            return f'<a href="{escape(href)}"{_LINK_END}{escape(text)}</a>'

        return link
    return lambda value, _: escape(words(value))


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _yes_or_no(value: bool) -> str:
    # Not by the mark alone: it is read, and it is seen without colours.
    return f'<span class="a2-yes">{UI_CHECK}Yes</span>' if value else '<span class="a2-no">No</span>'


def _order(column: Column) -> Write | None:
    """What the page sorts by, "" for nothing; None where that is the text of the cell."""
    if column.type in NUMERIC:

        def number(value: Any) -> str:
            found = None if type(value) is bool else to_number(value)
            return "" if found is None else number_text(found)

        return number
    if column.type == "date":

        def date(value: Any) -> str:
            moment = None if is_secret(value) else parse_date(value)
            return "" if moment is None else number_text(_seconds(moment))

        return date
    if column.type == "boolean":
        return lambda value: "" if value is None else str(int(to_truth(value)))
    return None
