"""What the functions of the Basic and the minimal catalog take, as their schemas have it (rulebook 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from a2ui.catalog.schema.shapes import (
    Signature,
    anything,
    count,
    dynamic_boolean,
    dynamic_number,
    dynamic_string,
    dynamic_value,
    list_of,
    number,
    string,
    uri,
)

_BOUNDS = ("min", "max")
_NUMBER_STYLE = {"decimals": dynamic_number, "grouping": dynamic_boolean}
_SEVERAL = {"values": list_of(dynamic_boolean, at_least=2)}

SIGNATURES: Final[Mapping[str, Signature]] = {
    "required": Signature("boolean", {"value": anything}),
    "regex": Signature("boolean", {"value": dynamic_string, "pattern": string}),
    "length": Signature("boolean", {"value": dynamic_string}, dict.fromkeys(_BOUNDS, count), _BOUNDS),
    "numeric": Signature("boolean", {"value": dynamic_number}, dict.fromkeys(_BOUNDS, number), _BOUNDS),
    "email": Signature("boolean", {"value": dynamic_string}),
    "formatString": Signature("string", {"value": dynamic_string}),
    "formatNumber": Signature("string", {"value": dynamic_number}, _NUMBER_STYLE),
    "formatCurrency": Signature(
        "string", {"value": dynamic_number, "currency": dynamic_string}, _NUMBER_STYLE
    ),
    "formatDate": Signature("string", {"value": dynamic_value, "format": dynamic_string}),
    "pluralize": Signature(
        "string",
        {"value": dynamic_number, "other": dynamic_string},
        dict.fromkeys(("zero", "one", "two", "few", "many"), dynamic_string),
    ),
    "openUrl": Signature("void", {"url": uri}),
    "and": Signature("boolean", _SEVERAL),
    "or": Signature("boolean", _SEVERAL),
    "not": Signature("boolean", {"value": dynamic_boolean}),
    "capitalize": Signature("string", {"value": dynamic_string}),
}
