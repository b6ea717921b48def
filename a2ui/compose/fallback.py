"""Surfaces with components of our own catalog for readers who do not know it: the same in components of the Basic
Catalog, as far as those go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from a2ui.catalog.beach.fields import is_field_id
from a2ui.compose.values import JsonObject
from a2ui.data.pointer import ABSENT, parse_scoped, read
from a2ui.errors import PointerError
from a2ui.protocol.catalog_ids import BASIC_1_0, BEACH, BEACH_1_0
from a2ui.protocol.pieces import SEND, inside
from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.safety.text import to_text

_KEPT: Final = ("weight", "@accessibility")
_OURS: Final = frozenset({BEACH, BEACH_1_0})
_FIELDS_AT_MOST: Final = DEFAULT_LIMITS.fields
_CELLS_AT_MOST: Final = 2_000
"""Cells of rows that are written in a definition; each is a component of its own."""
_FIELDS: Final = {"text": "shortText", "email": "shortText", "longText": "longText", "number": "number"}


def lowered_to_basic(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Messages of 1.0 that say the same without our catalog: a table is rows of texts, a chart its values, a form its
    fields and a button, whose event has what was entered as ``values``. Validation, formats of a status and sorting are
    not carried over. What a component is made of is named as a piece of it (``a2ui.protocol.pieces``)."""
    owned: set[str] = set()
    return [_message(message, owned) for message in messages]


def _message(message: JsonObject, owned: set[str]) -> JsonObject:
    for verb in ("createSurface", "updateComponents"):
        body = message.get(verb)
        if not isinstance(body, dict):
            continue
        body = dict(body)
        if is_ours(body.get("catalogId")):
            owned.add(str(body.get("surfaceId")))
            body["catalogId"] = BASIC_1_0
        if isinstance(body.get("components"), list):
            body["components"] = lowered_rows(body["components"], ours=str(body.get("surfaceId")) in owned)
        return {**message, verb: body}
    return dict(message)


def is_ours(catalog_id: object) -> bool:
    """Whether it names our own catalog."""
    return isinstance(catalog_id, str) and catalog_id in _OURS


def lowered_rows(rows: Iterable[Any], *, ours: bool) -> list[Any]:
    """Definitions of 1.0 without our catalog.

    :param ours: whether those are of it that name no catalog
    """
    return [made for row in rows for made in _row(row, ours=ours)]


def _row(row: Any, *, ours: bool) -> Iterator[JsonObject]:
    named = row.get("@catalogId") if isinstance(row, dict) else None
    if not (ours if named is None else is_ours(named)) or not isinstance(row, dict):
        yield row
        return
    lower = _LOWER.get(str(row.get("component")))
    if lower is None:
        yield {key: value for key, value in row.items() if key != "@catalogId"}
        return
    first, *others = lower(str(row["id"]), row)
    yield {**first, **{key: row[key] for key in _KEPT if key in row}}
    yield from others


# What comes is read as leniently as the engine reads it: whatever an agent wrote, a reader gets components.


def _dicts(value: Any, most: int = _FIELDS_AT_MOST) -> list[JsonObject]:
    listed = value if isinstance(value, list) else []
    return [one for one in listed[:most] if isinstance(one, dict)]


def _dict(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _word(value: Any, usual: str = "") -> str:
    return value if isinstance(value, str) else usual


def _path(value: Any) -> str | None:
    pointer = _dict(value).get("@path")
    return pointer if isinstance(pointer, str) else None


def _dynamic(value: Any) -> Any:
    return value if isinstance(value, dict) and ("@path" in value or "@call" in value) else to_text(value)


def _text(name: str, value: Any, **more: Any) -> JsonObject:
    return {"id": name, "component": "Text", "text": _dynamic(value), **more}


def _head(name: str, label: Any) -> JsonObject:
    return _text(name, label, variant="caption", weight=1)


def _markdown(name: str, row: JsonObject) -> Iterator[JsonObject]:
    yield _text(name, row.get("text", ""))


def _table(name: str, row: JsonObject) -> Iterator[JsonObject]:
    columns = _dicts(row.get("columns"))
    heads = [_head(inside(name, f":h{at}"), one.get("label", "")) for at, one in enumerate(columns)]
    values = [_formatted(one) for one in columns]
    yield from _listing(name, row.get("rows"), row.get("caption"), heads, values)


def _chart(name: str, row: JsonObject) -> Iterator[JsonObject]:
    series = _dicts(row.get("series"))
    labels = ["", *[one.get("label", "") for one in series]]
    heads = [_head(inside(name, f":h{at}"), label) for at, label in enumerate(labels)]
    about: JsonObject = {key: row[key] for key in ("currency", "decimals") if key in row}
    about["type"] = "currency" if row.get("currency") else "number"
    values = [row.get("label", ""), *[_formatted({**about, "value": one.get("value")}) for one in series]]
    yield from _listing(name, row.get("data"), row.get("title"), heads, values)


def _listing(
    name: str, rows: Any, title: Any, heads: list[JsonObject], values: list[Any]
) -> Iterator[JsonObject]:
    """A heading, a line of captions, and a line of texts for each item."""
    top, head, body, line = (inside(name, piece) for piece in (":title", ":head", ":rows", ":row"))
    pointer = _path(rows)
    items = rows if isinstance(rows, list) else []
    shown = items[: max(1, _CELLS_AT_MOST // max(1, len(values)))]
    more = [inside(name, ":more")] if len(shown) < len(items) else []
    yield {"id": name, "component": "Column", "children": [*([top] if title else []), head, body, *more]}
    if title:
        yield _text(top, title)
    yield {"id": head, "component": "Row", "children": [one["id"] for one in heads]}
    yield from heads
    if pointer is not None:
        template = {"componentId": line, "path": pointer}
        yield {"id": body, "component": "Column", "children": template}
        yield from _line(line, values)
        return
    ids = [f"{line}{at}" for at in range(len(shown))]
    yield {"id": body, "component": "Column", "children": ids}
    for one, item in zip(ids, shown, strict=True):
        yield from _line(one, [_in_item(value, item) for value in values])
    if more:
        yield _text(more[0], f"{len(shown):,} of {len(items):,} rows shown")


def _line(name: str, values: list[Any]) -> Iterator[JsonObject]:
    cells = [_text(f"{name}-{at}", value, weight=1) for at, value in enumerate(values)]
    yield {"id": name, "component": "Row", "children": [one["id"] for one in cells]}
    yield from cells


def _formatted(column: Mapping[str, Any]) -> Any:
    value, kind = column.get("value"), column.get("type", "text")
    if kind == "date":
        return {
            "@call": "formatDate",
            "args": {"value": value, "format": _word(column.get("format")) or "d MMM y"},
        }
    args = {key: column[key] for key in ("decimals",) if key in column}
    if kind == "currency":
        return {
            "@call": "formatCurrency",
            "args": {"value": value, "currency": _word(column.get("currency")), **args},
        }
    return {"@call": "formatNumber", "args": {"value": value, **args}} if kind == "number" else value


def _in_item(value: Any, item: Any) -> Any:
    """A value with what is looked up in an item put in its place: the item is no data of the surface."""
    if isinstance(value, dict):
        pointer = value.get("@path")
        if isinstance(pointer, str):
            try:
                tokens, absolute = parse_scoped(pointer)
            except PointerError:
                return ""
            found = ABSENT if absolute else read(item, tokens)
            return value if absolute else "" if found is ABSENT or found is None else found
        return {key: _in_item(one, item) for key, one in value.items()}
    return value


def _form(name: str, row: JsonObject) -> Iterator[JsonObject]:
    title = [inside(name, ":title")] if row.get("title") else []
    at, event = _path(row.get("value")), _dict(_dict(row.get("action")).get("event"))
    usable = at is not None and isinstance(event.get("name"), str)
    fields = {one["id"]: one for one in reversed(_dicts(row.get("fields"))) if is_field_id(one.get("id"))}
    listed = [*reversed(fields.values())] if usable else []
    ids = [inside(name, field["id"]) for field in listed]
    send, label = inside(name, SEND), inside(name, ":label")
    yield {"id": name, "component": "Column", "children": [*title, *ids, *([send] if usable else [])]}
    if title:
        yield _text(title[0], row["title"])
    if at is None or not usable:
        return
    for one, field in zip(ids, listed, strict=True):
        yield _input(one, field, {"@path": f"{at.rstrip('/')}/{field['id']}"})
    # As a whole: in 0.9 an object that is written into a context holds no bindings.
    event = {**event, "context": {**_dict(event.get("context")), "values": {"@path": at}}}
    button = {
        "id": send,
        "component": "Button",
        "child": label,
        "action": {"event": event},
    }
    yield button | ({"@checks": row["@checks"]} if isinstance(row.get("@checks"), list) else {})
    yield _text(label, row.get("submitLabel", "Send"))


def _input(name: str, field: JsonObject, value: JsonObject) -> JsonObject:
    label, kind = _dynamic(field.get("label", field["id"])), _word(field.get("type"), "text")
    found = {"id": name, "label": label, "value": value}
    if kind == "checkbox":
        return {**found, "component": "CheckBox"}
    if kind == "date":
        return {**found, "component": "DateTimeInput", "enableDate": True}
    if kind == "select":
        options = _options(field.get("options"))
        return {**found, "component": "ChoicePicker", "options": options, "variant": "mutuallyExclusive"}
    return {**found, "component": "TextField", "variant": _FIELDS.get(kind, "shortText")}


def _options(given: Any) -> list[JsonObject]:
    listed = given[: DEFAULT_LIMITS.options] if isinstance(given, list) else []
    found: dict[str, JsonObject] = {}
    for one in listed:
        option = one if isinstance(one, dict) else {"value": one}
        if isinstance(value := option.get("value"), str):
            found.setdefault(value, {"label": _dynamic(option.get("label", value)), "value": value})
    return list(found.values())


_LOWER: Final = {"Markdown": _markdown, "Table": _table, "Chart": _chart, "Form": _form}
