"""A JSON Schema of Agent Cards, made from the types of the A2A SDK, so that it says what they say (A2A 1.0, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from a2a.types.a2a_pb2 import AgentCard
from google.api.field_behavior_pb2 import REQUIRED, field_behavior
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from envelopes.types import JsonObject

_FREE: Mapping[str, JsonObject] = {
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
}
"""Types that are written as plain JSON."""

_SCALARS: Mapping[int, JsonObject] = {
    FieldDescriptor.CPPTYPE_STRING: {"type": "string"},
    FieldDescriptor.CPPTYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.CPPTYPE_INT32: {"type": "integer"},
    FieldDescriptor.CPPTYPE_DOUBLE: {"type": "number"},
}


@cache
def agent_card_schema() -> JsonObject:
    """Draft 2020-12. What the SDK marks as required is required, and no empty text; unknown fields may be there."""
    definitions: JsonObject = {}
    # The stubs know of two kinds of descriptors, which are one.
    card = cast("Descriptor", AgentCard.DESCRIPTOR)
    _define(card, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_reference(card),
        "$defs": definitions,
    }


def _define(message: Descriptor, definitions: JsonObject) -> None:
    if message.full_name in definitions or message.full_name in _FREE:
        return
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    definitions[message.full_name] = schema
    for field in message.fields:
        is_required = REQUIRED in field.GetOptions().Extensions[field_behavior]
        schema["properties"][field.json_name] = _field(field, definitions, is_required=is_required)
        if is_required:
            schema.setdefault("required", []).append(field.json_name)


def _field(field: FieldDescriptor, definitions: JsonObject, *, is_required: bool) -> JsonObject:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return {
            "type": "object",
            "additionalProperties": _value(field.message_type.fields_by_name["value"], definitions),
        }
    value = _value(field, definitions)
    if field.is_repeated:
        return {"type": "array", "items": value}
    return {**value, "minLength": 1} if is_required and value.get("type") == "string" else value


def _value(field: FieldDescriptor, definitions: JsonObject) -> JsonObject:
    if field.message_type is not None:
        _define(field.message_type, definitions)
        return _reference(field.message_type)
    if field.enum_type is not None:
        return {"enum": [value.name for value in field.enum_type.values]}
    return _SCALARS[field.cpp_type]


def _reference(message: Descriptor) -> JsonObject:
    return _FREE.get(message.full_name) or {"$ref": f"#/$defs/{message.full_name}"}
