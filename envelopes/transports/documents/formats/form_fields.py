"""The fields of a form in their normal form (reading 4.3).

What a field holds at first is read as ``default``, then as ``defaultValue``, and kept as the latter: a document is
normalised again after each patch, and must not lose it by that. No two fields of a form have one id, no two options of
a field one value.
"""

from __future__ import annotations

from typing import Any

from envelopes.transports.documents.formats.coercing import ABSENT, Coercion, Names, below
from envelopes.transports.documents.formats.limits import DocumentLimits
from envelopes.types import JsonObject

TYPES = ("text", "email", "number", "select", "checkbox")
ID_CHARS, LABEL_CHARS, HINT_CHARS, PLACEHOLDER_CHARS, VALUE_CHARS = 48, 64, 128, 96, 256
BOUND = 1_000_000
LEAST_STEP, MOST_STEP = 0.000001, 100_000

_ALL = ("type", "id", "label", "hint", "required", "default", "defaultValue")
_NAMES = {
    "text": (*_ALL, "placeholder"),
    "email": (*_ALL, "placeholder"),
    "number": (*_ALL, "min", "max", "step"),
    "select": (*_ALL, "options"),
    "checkbox": _ALL,
}


def fields_of(value: Any, path: str, coercion: Coercion, limits: DocumentLimits) -> list[JsonObject]:
    """The fields of ``value``: ``{type, id, label, hint, required, defaultValue}`` and what its type has."""
    names = Names(coercion, ID_CHARS)
    return [
        _field(field, below(path, number), number, names, coercion, limits)
        for number, field in coercion.objects(value, path, "fields", limits.form_fields)
    ]


def _field(
    field: JsonObject, path: str, number: int, names: Names, coercion: Coercion, limits: DocumentLimits
) -> JsonObject:
    kind = coercion.choice(field.get("type", ABSENT), below(path, "type"), TYPES, "text")
    coercion.known(field, path, _NAMES[kind])
    name = names.take(field.get("id", ABSENT), below(path, "id"), f"field-{number + 1}")
    found: JsonObject = {
        "type": kind,
        "id": name,
        "label": coercion.text(field.get("label", ABSENT), below(path, "label"), name, LABEL_CHARS),
        "hint": coercion.text(field.get("hint", ABSENT), below(path, "hint"), "", HINT_CHARS),
        "required": coercion.flag(field.get("required", ABSENT), below(path, "required")),
    }
    sent = field.get("default", field.get("defaultValue", ABSENT))
    at = below(path, "default" if "default" in field else "defaultValue")
    if kind in ("text", "email"):
        placeholder = field.get("placeholder", ABSENT)
        found["placeholder"] = coercion.text(placeholder, below(path, "placeholder"), "", PLACEHOLDER_CHARS)
        found["defaultValue"] = coercion.text(sent, at, "", limits.text_chars)
    elif kind == "number":
        found |= _range(field, path, coercion)
        found["defaultValue"] = coercion.number(sent, at, found["min"], found["min"], found["max"])
    elif kind == "select":
        found["options"] = _options(field.get("options", ABSENT), below(path, "options"), coercion, limits)
        found["defaultValue"] = _chosen(sent, at, [one["value"] for one in found["options"]], coercion)
    else:
        found["defaultValue"] = coercion.flag(sent, at)
    return found


def _range(field: JsonObject, path: str, coercion: Coercion) -> JsonObject:
    least = coercion.number(field.get("min", ABSENT), below(path, "min"), 0, -BOUND, BOUND)
    # A default of 100 below the least value would be another one when it is read again.
    most = coercion.number(field.get("max", ABSENT), below(path, "max"), max(100, least), least, BOUND)
    step = coercion.number(field.get("step", ABSENT), below(path, "step"), 1, LEAST_STEP, MOST_STEP)
    return {"min": least, "max": most, "step": step}


def _options(value: Any, path: str, coercion: Coercion, limits: DocumentLimits) -> list[JsonObject]:
    names = Names(coercion, LABEL_CHARS)
    found = []
    for number, option in coercion.objects(value, path, "options", limits.select_options):
        at = below(path, number)
        coercion.known(option, at, ("label", "value"))
        label = option.get("label", ABSENT)
        found.append(
            {
                "label": coercion.text(label, below(at, "label"), f"Option {number + 1}", LABEL_CHARS),
                "value": names.take(option.get("value", ABSENT), below(at, "value"), f"option-{number + 1}"),
            }
        )
    return found or [{"label": "N/A", "value": "na"}]


def _chosen(sent: Any, path: str, values: list[str], coercion: Coercion) -> str:
    chosen = coercion.text(sent, path, values[0], VALUE_CHARS)
    if chosen not in values:
        coercion.report.add("replaced", path, f"This has to be the value of an option; it is {values[0]}.")
        return values[0]
    return chosen
