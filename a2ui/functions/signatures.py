"""What the functions of the Basic and the minimal catalog take, as their schemas have it (rulebook 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from a2ui.schema.dynamic import (
    Signature,
    dynamic,
    dynamic_boolean,
    dynamic_number,
    dynamic_string,
    dynamic_value,
)
from a2ui.schema.shapes import anything, count, list_of, number, string, uri

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

SIGNATURES_1_0: Final[Mapping[str, Signature]] = {
    **{
        name: replace(SIGNATURES[name], returns="validationResult")
        for name in ("required", "regex", "length", "numeric", "email")
    },
    "openUrl": Signature("void", {"url": dynamic(uri, "string")}),
}
"""Those that the Basic Catalog 1.0 has otherwise (section 8 of its reading)."""
