"""What somebody sent by a form, held against the fields of the document that the server has: a client is not believed
(reading 12, question 8)."""

from __future__ import annotations

from typing import Any

from envelopes.transports.documents.formats.coercing import trim
from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.types import JsonObject

_SLACK = 1e-9
"""Of steps such as 0.1, which no double is."""


def field_key(name: str) -> str:
    """What a field is called where it is drawn: a letter comes first there, and there are no colons."""
    return f"f-{name.replace(':', '.')}"


def submitted(document: JsonObject, context: JsonObject) -> JsonObject:
    """``{componentId, values}`` by the fields of that form: texts, numbers and booleans, those of a select one of its
    options. Raises ``InvalidInput`` with the id of the field where a value cannot be taken, and for no such form."""
    name = context.get("componentId")
    forms = (one for one in document["components"] if one["type"] == "form" and one["id"] == name)
    form = next(forms, None)
    if form is None:
        raise InvalidInput("There is no such form.", reason="InvalidValue", path="componentId")
    given = context.get("values")
    values = given if isinstance(given, dict) else {}
    return {
        "componentId": name,
        "values": {
            field["id"]: _value(field, values.get(field_key(field["id"]), field["defaultValue"]))
            for field in form["props"]["fields"]
        },
    }


def _value(field: JsonObject, value: Any) -> Any:
    kind = field["type"]
    if kind == "checkbox":
        if not isinstance(value, bool) or (field["required"] and not value):
            raise _wrong(field, "has to be checked" if field["required"] else "has to be true or false")
        return value
    if kind == "number":
        return _number(field, value)
    if kind == "select":
        # An input for one of several holds a list.
        chosen = value[0] if isinstance(value, list) and len(value) == 1 else value
        if chosen not in [option["value"] for option in field["options"]]:
            raise _wrong(field, "has to be one of its options")
        return chosen
    if not isinstance(value, str):
        raise _wrong(field, "has to be text")
    if field["required"] and not trim(value):
        raise _wrong(field, "is required")
    return value


def _number(field: JsonObject, value: Any) -> float:
    # An input for numbers holds what was typed; what is no number falls back to what was there at first.
    if isinstance(value, str):
        try:
            value = float(value) if trim(value) else field["defaultValue"]
        except ValueError:
            value = field["defaultValue"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(field, "has to be a number")
    if not field["min"] <= value <= field["max"]:
        raise _wrong(field, f"has to be {field['min']} to {field['max']}")
    steps = (value - field["min"]) / field["step"]
    if abs(steps - round(steps)) > _SLACK * max(1.0, abs(steps)):
        raise _wrong(field, f"has to be {field['min']} and some times {field['step']}")
    return int(value) if value == int(value) else value


def _wrong(field: JsonObject, told: str) -> InvalidInput:
    return InvalidInput(f"{field['id']} {told}.", reason="InvalidValue", path=field["id"])
