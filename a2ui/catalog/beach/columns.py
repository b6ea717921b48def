"""The columns of a table: what an agent says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from a2ui.binding.values import Value
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.beach.lists import Member, listed
from a2ui.functions.numbers import MAX_DECIMALS
from a2ui.schema import shapes
from a2ui.schema.dynamic import dynamic_string, dynamic_value
from a2ui.schema.shapes import Check, below

TYPES: Final = ("text", "number", "currency", "date", "boolean", "status", "link")
ALIGNS: Final = ("start", "center", "end")
TONES: Final = ("neutral", "info", "success", "warning", "critical")
NUMERIC: Final = frozenset({"number", "currency"})

_MEMBERS: Final = (
    "label", "value", "type", "align", "sortable", "rowHeader", "decimals", "currency", "format", "tones", "url",
)  # fmt: skip
_BELONGS: Final[Mapping[str, frozenset[str]]] = {
    "decimals": NUMERIC,
    "currency": frozenset({"currency"}),
    "format": frozenset({"date"}),
    "tones": frozenset({"status"}),
    "url": frozenset({"link"}),
}
"""Members that say something of some types only."""


class Column(NamedTuple):
    """One column: its heading, and what its cell shows of the item of a row."""

    label: Value
    value: Value
    type: str = "text"
    align: str = "start"
    sortable: bool = False
    header: bool = False
    """Whether its cells are what a row is about (`rowHeader`)."""
    decimals: int | None = None
    currency: str = ""
    format: str = ""
    """How a date is written, as `formatDate` reads it; "" for the way of the locale."""
    tones: Mapping[str, str] = {}
    """The tone of a status by its text."""
    url: Value = None


def columns(raw: Any, where: AcceptContext) -> Any:
    """A tuple of Column."""
    return listed(raw, where, "columns", _column)


def _column(given: Member) -> Column:
    given.only(_MEMBERS)
    kind = given.one_of("type", TYPES, "text")
    for key, kinds in _BELONGS.items():
        if key in given.raw and kind not in kinds:
            given.tell(key, f"{key} says nothing about a column of the type {kind}.")
    decimals = given.number("decimals")
    if decimals is not None and (decimals != int(decimals) or not 0 <= decimals <= MAX_DECIMALS):
        given.wrong("decimals", f"a whole number from 0 to {MAX_DECIMALS}", decimals)
        decimals = None
    return Column(
        given.text("label"),
        given.value("value"),
        kind,
        given.one_of("align", ALIGNS, "end" if kind in NUMERIC else "start"),
        given.flag("sortable"),
        given.flag("rowHeader"),
        None if decimals is None else int(decimals),
        given.word("currency"),
        given.word("format"),
        _tones(given),
        given.value("url"),
    )


def _tones(given: Member) -> Mapping[str, str]:
    found = given.raw.get("tones", {})
    if not isinstance(found, dict) or not given.where.takes([*found]):
        given.wrong("tones", "an object of tones by the text of a status", found)
        return {}
    for text, tone in found.items():
        if tone not in TONES:
            given.wrong(f"tones/{text[:40]}", "one of " + ", ".join(TONES), tone, quoted=True)
    return {text: tone for text, tone in found.items() if tone in TONES}


def _tones_shape(value: Any, path: str, check: Check) -> None:
    if type(value) is not dict:
        check.wrong(path, "an object", value)
        return
    for key, tone in value.items():
        shapes.one_of(*TONES)(tone, below(path, key), check)


columns_shape = shapes.list_of(
    shapes.record(
        {"label": dynamic_string, "value": dynamic_value},
        {
            "type": shapes.one_of(*TYPES),
            "align": shapes.one_of(*ALIGNS),
            "sortable": shapes.boolean,
            "rowHeader": shapes.boolean,
            "decimals": shapes.count,
            "currency": shapes.string,
            "format": shapes.string,
            "tones": _tones_shape,
            "url": dynamic_string,
        },
    ),
    at_least=1,
)
