"""Our own catalog as a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from a2ui.catalog.beach import columns, fields
from a2ui.protocol import catalog_ids

_COMMON = "common_types.json#/$defs/"
_WEIGHT: Final = {"type": "number", "description": "share of a row or column, of a child of one"}
_TEXT: Final = {"$ref": f"{_COMMON}DynamicString"}
_VALUE: Final = {"$ref": f"{_COMMON}DynamicValue"}


def _object(required: Mapping[str, Any], optional: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": [*required],
        "additionalProperties": False,
    }


def _list(item: Mapping[str, Any], about: str) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1, "description": about}


_ITEMS: Final = {
    "oneOf": [{"type": "array"}, {"$ref": f"{_COMMON}DataBinding"}, {"$ref": f"{_COMMON}FunctionCall"}],
    "description": "a list of objects or lists: better bound than written here, then only what changes is sent",
}
_ENUM = "enum"
_COLUMN: Final = _object(
    {"label": _TEXT, "value": {**_VALUE, "description": "looked up in the row: a path without a slash"}},
    {
        "type": {_ENUM: [*columns.TYPES]},
        "align": {_ENUM: [*columns.ALIGNS]},
        "sortable": {"type": "boolean"},
        "rowHeader": {"type": "boolean"},
        "decimals": {"type": "integer", "minimum": 0},
        "currency": {"type": "string", "description": "ISO 4217"},
        "format": {"type": "string", "description": "of a date, as formatDate has it"},
        "tones": {"type": "object", "additionalProperties": {_ENUM: [*columns.TONES]}},
        "url": _TEXT,
    },
)
_OPTION: Final = {
    "oneOf": [{"type": "string"}, _object({"value": {"type": "string"}}, {"label": _TEXT})],
}
_FIELD: Final = _object(
    {"id": {"type": "string"}, "label": _TEXT},
    {
        "type": {_ENUM: [*fields.TYPES]},
        "hint": _TEXT,
        "placeholder": _TEXT,
        "required": {"type": "boolean"},
        "default": {"type": ["string", "number", "boolean"]},
        "min": {"type": ["number", "string"]},
        "max": {"type": ["number", "string"]},
        "step": {"type": "number", "exclusiveMinimum": 0},
        "options": _list(_OPTION, "of a select"),
    },
)
_SERIES: Final = _object({"label": _TEXT, "value": {**_VALUE, "description": "looked up in the item"}}, {})

_COMPONENTS: Final[Mapping[str, Any]] = {
    "Markdown": ("A long text.", _object({"text": _TEXT}, {})),
    "Table": (
        "Rows of a list; people sort them.",
        _object(
            {"columns": _list(_COLUMN, "from the start of a row"), "rows": _ITEMS},
            {"caption": _TEXT, "empty": {**_TEXT, "description": "said where there are no rows"}},
        ),
    ),
    "Form": (
        "Fields and a button; its event gets {values} by field id, once all of them are right.",
        _object(
            {
                "fields": _list(_FIELD, "in their order"),
                "value": {"$ref": f"{_COMMON}DataBinding", "description": "the object with the values"},
                "action": {"$ref": f"{_COMMON}Action"},
            },
            {"title": _TEXT, "submitLabel": _TEXT},
        ),
    ),
    "Chart": (
        "Points of a list.",
        _object(
            {
                "type": {_ENUM: ["bar", "line", "area", "sparkline"]},
                "data": _ITEMS,
                "label": {**_VALUE, "description": "the name of a point, looked up in its item"},
                "series": _list(_SERIES, "one value of a point for each"),
            },
            {"title": _TEXT, "currency": {"type": "string"}, "decimals": {"type": "integer", "minimum": 0}},
        ),
    ),
}


_CHECKED: Final = frozenset({"Form"})
"""Components that have `checks`."""


def document(version: str = "1.0") -> dict[str, Any]:
    """The catalog as a JSON document of this version of the protocol ("0.9" or "1.0"), in the form that inline catalogs
    have: what is of the Basic Catalog refers to it."""
    newer = version == "1.0"
    basic = catalog_ids.BASIC_1_0 if newer else catalog_ids.BASIC
    catalog_id = catalog_ids.BEACH_1_0 if newer else catalog_ids.BEACH
    own = [{"$ref": f"#/components/{name}"} for name in _COMPONENTS]
    found: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": catalog_id,
        "title": "Beach catalog",
        "description": "The Basic Catalog, and components for long texts, tables, forms and charts.",
        "catalogId": catalog_id,
        "components": {name: _entry(name, *entry, newer=newer) for name, entry in _COMPONENTS.items()},
        "$defs": {
            "anyComponent": {"oneOf": [{"$ref": f"{basic}#/$defs/anyComponent"}, *own]},
            "anyFunction": {"$ref": f"{basic}#/$defs/anyFunction"},
        },
    }
    if newer:
        found["protocolVersion"] = "1.0"
    folder = basic.removesuffix("catalogs/basic/catalog.json")
    absolute: dict[str, Any] = _absolute(found, folder)
    return absolute


def _absolute(value: Any, folder: str) -> Any:
    """With the common types where the standard has them: whoever fetches the document finds them from there."""
    if isinstance(value, list):
        return [_absolute(one, folder) for one in value]
    if isinstance(value, dict):
        return {key: _absolute(one, folder) for key, one in value.items()}
    return folder + value if isinstance(value, str) and value.startswith(_COMMON) else value


def _entry(name: str, about: str, schema: Mapping[str, Any], *, newer: bool) -> dict[str, Any]:
    # The envelope of 1.0 brings what all components have, and closes them; in 0.9 each does so itself.
    parts = [] if newer else [{"$ref": f"{_COMMON}ComponentCommon"}]
    if name in _CHECKED:
        parts.append({"$ref": f"{_COMMON}Checkable"})
    return {
        "type": "object",
        "description": about,
        **({"allOf": parts} if parts else {}),
        "properties": {"component": {"const": name}, **schema["properties"], "weight": _WEIGHT},
        "required": ["component", *schema["required"]],
        **({} if newer else {"unevaluatedProperties": False}),
    }


DOCUMENTS: Final = {catalog_ids.BEACH: "0.9", catalog_ids.BEACH_1_0: "1.0"}
