"""The props of each type of component in their normal form (reading 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from envelopes.transports.documents.formats.coercing import ABSENT, Coercion, below
from envelopes.transports.documents.formats.form_fields import fields_of
from envelopes.transports.documents.formats.limits import DocumentLimits
from envelopes.types import Json, JsonObject

TONES = ("normal", "muted", "success", "critical")
SUBMIT_CHARS = 48
POINT_CHARS = 64
MOST_VALUE = 1_000_000

Reader: TypeAlias = Callable[[JsonObject, str, Coercion, DocumentLimits], JsonObject]


def first_of(props: JsonObject, *names: str) -> Any:
    """The value under the first of these names that there is."""
    return next((props[name] for name in names if name in props), ABSENT)


def _text(props: JsonObject, path: str, coercion: Coercion, limits: DocumentLimits) -> JsonObject:
    coercion.known(props, path, ("value", "tone"))
    return {
        "value": coercion.text(props.get("value", ABSENT), below(path, "value"), "", limits.text_chars),
        "tone": coercion.choice(props.get("tone", ABSENT), below(path, "tone"), TONES, "normal"),
    }


def _markdown(props: JsonObject, path: str, coercion: Coercion, limits: DocumentLimits) -> JsonObject:
    coercion.known(props, path, ("value", "markdown"))
    value = props.get("value", ABSENT)
    if not isinstance(value, str):
        value = props.get("markdown", value)
    return {"value": coercion.text(value, below(path, "value"), "", limits.markdown_chars)}


def _list(props: JsonObject, path: str, coercion: Coercion, limits: DocumentLimits) -> JsonObject:
    coercion.known(props, path, ("ordered", "items"))
    at = below(path, "items")
    items = coercion.entries(props.get("items", ABSENT), at, "items", limits.list_items)
    return {
        "ordered": coercion.flag(props.get("ordered", ABSENT), below(path, "ordered")),
        "items": [
            coercion.shown(item, below(at, number), limits.text_chars) for number, item in enumerate(items)
        ],
    }


def _table(props: JsonObject, path: str, coercion: Coercion, limits: DocumentLimits) -> JsonObject:
    coercion.known(props, path, ("columns", "rows"))
    at = below(path, "columns")
    most = max(8, limits.text_chars // 2)
    sent = coercion.entries(props.get("columns", ABSENT), at, "columns", limits.table_columns)
    columns = [
        coercion.text(column, below(at, number), f"Column {number + 1}", most)
        for number, column in enumerate(sent)
    ] or ["Value"]
    at = below(path, "rows")
    rows = coercion.entries(props.get("rows", ABSENT), at, "rows", limits.table_rows)
    return {
        "columns": columns,
        "rows": [
            _row(row, below(at, number), len(columns), coercion, limits) for number, row in enumerate(rows)
        ],
    }


def _row(row: Json, path: str, columns: int, coercion: Coercion, limits: DocumentLimits) -> list[str]:
    if not isinstance(row, list):
        coercion.report.add("replaced", path, "A row has to be a list of cells; it is empty.")
        return [""] * columns
    if len(row) > columns:
        coercion.report.cut(path, "cells", columns, len(row))
    elif len(row) < columns:
        coercion.report.add(
            "replaced", path, "A row has a cell for each column; those that are missing are empty."
        )
    cells = [
        coercion.shown(cell, below(path, number), limits.text_chars)
        for number, cell in enumerate(row[:columns])
    ]
    return cells + [""] * (columns - len(cells))


def _form(props: JsonObject, path: str, coercion: Coercion, limits: DocumentLimits) -> JsonObject:
    coercion.known(props, path, ("title", "submitLabel", "submit_label", "fields"))
    submit = first_of(props, "submit_label", "submitLabel")
    return {
        "title": coercion.text(props.get("title", ABSENT), below(path, "title"), "Form", limits.text_chars),
        "submitLabel": coercion.text(submit, below(path, "submitLabel"), "Submit", SUBMIT_CHARS),
        "fields": fields_of(props.get("fields", ABSENT), below(path, "fields"), coercion, limits),
    }


def _chart(props: JsonObject, path: str, coercion: Coercion, limits: DocumentLimits) -> JsonObject:
    coercion.known(props, path, ("title", "series"))
    at = below(path, "series")
    points = coercion.objects(props.get("series", ABSENT), at, "points", limits.chart_points)
    return {
        "title": coercion.text(props.get("title", ABSENT), below(path, "title"), "Chart", limits.text_chars),
        "series": [_point(point, below(at, number), number, coercion) for number, point in points],
    }


def _point(point: JsonObject, path: str, number: int, coercion: Coercion) -> JsonObject:
    coercion.known(point, path, ("label", "value"))
    label = point.get("label", ABSENT)
    return {
        "label": coercion.text(label, below(path, "label"), f"Point {number + 1}", POINT_CHARS),
        "value": coercion.number(point.get("value", ABSENT), below(path, "value"), 0, 0, MOST_VALUE),
    }


PROPS: dict[str, Reader] = {
    "text": _text,
    "markdown": _markdown,
    "list": _list,
    "table": _table,
    "form": _form,
    "chart": _chart,
}
"""By type, in the order of the source."""
