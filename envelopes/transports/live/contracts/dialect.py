"""The JSON Schema dialect of contracts (7.3): a subset of draft-07 without references and patterns.

Nothing in it can recurse or backtrack, so a check costs at most the size of the schema times that of the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jsonschema import Draft7Validator

from envelopes.transports.live.contracts.formats import KNOWN_FORMATS
from envelopes.transports.live.contracts.violations import Violation, at, cut, json_type
from envelopes.types import Json, JsonObject

TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")

MAX_DEPTH: Final = 32
"""Levels of lists and objects in a contract."""

_SCHEMA: JsonObject = {"$ref": "#"}
_SCHEMAS: JsonObject = {"type": "array", "minItems": 1, "items": _SCHEMA}

METASCHEMA: Final[JsonObject] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "type": {
            "anyOf": [
                {"enum": list(TYPES)},
                {"type": "array", "items": {"enum": list(TYPES)}, "minItems": 1, "uniqueItems": True},
            ]
        },
        "description": {"type": "string"},
        "enum": {"type": "array", "minItems": 1},
        "const": {},
        "default": {},
        "example": {},
        "nullable": {"type": "boolean"},
        "items": _SCHEMA,
        "properties": {"type": "object", "additionalProperties": _SCHEMA},
        "required": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "additionalProperties": {"anyOf": [{"type": "boolean"}, _SCHEMA]},
        "format": {"enum": list(KNOWN_FORMATS)},
        "minimum": {"type": "number"},
        "maximum": {"type": "number"},
        "oneOf": _SCHEMAS,
        "anyOf": _SCHEMAS,
    },
}
"""What a schema may be; all its keys are those of 7.3."""

_META = Draft7Validator(METASCHEMA)


def too_deep(document: Json, levels: int = MAX_DEPTH) -> bool:
    """Whether a document has more levels of lists and objects; looks no deeper than that."""
    here = [document]
    for _ in range(levels + 1):
        here = [
            child
            for value in here
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not here:
            return False
    return True


def schema_faults(schema: Json, field: str) -> Iterator[Violation]:
    """Where a schema is none of this dialect: one ``CTR_SCHEMA_META_INVALID`` for each place."""
    for error in _META.iter_errors(schema):
        deepest = error
        while deepest.context:
            deepest = max(deepest.context, key=lambda one: len(one.absolute_path))
        yield Violation(
            at(field, deepest.absolute_path),
            _told(deepest),
            keyword=str(deepest.validator),
            code="CTR_SCHEMA_META_INVALID",
        )


def _told(error: Any) -> str:
    match error.validator:
        case "additionalProperties":
            unknown = sorted(set(error.instance) - set(METASCHEMA["properties"]))
            return f"Keywords that schemas of a contract may not have: {cut(', '.join(unknown))}."
        case "enum":
            return f"Not one of {', '.join(map(str, error.validator_value))}."
        case "type":
            return f"Is of the type {json_type(error.instance)}, not {error.validator_value}."
        case "minItems":
            return "Is an empty list."
        case _:
            return "Has the same item twice."


def structure_faults(schema: Json, field: str) -> Iterator[Violation]:
    """Rules 5 to 8 of 7.2: what a schema has to say so that a value can be checked."""
    if not isinstance(schema, dict):
        return
    types = _types(schema)
    if not types and not schema.get("oneOf") and not schema.get("anyOf"):
        yield Violation(field, "Has neither type nor oneOf nor anyOf.", "type | oneOf | anyOf", "none")
        return
    if "array" in types and "items" not in schema:
        yield Violation(field, "Is a list without items.", "a schema of the items", "none")
    declared = schema.get("properties")
    if not isinstance(declared, dict):
        declared = {}
    required = schema.get("required")
    if "object" in types and isinstance(required, list):
        for name in required:
            if isinstance(name, str) and name not in declared:
                yield Violation(
                    at(field, [name]),
                    f"'{cut(name)}' is required, and not one of the properties.",
                    f"'{cut(name)}' in properties",
                    cut(", ".join(declared)) or "(none)",
                )
    if "items" in schema:
        yield from structure_faults(schema["items"], f"{field}.items")
    for name, child in declared.items():
        yield from structure_faults(child, at(field, [name]))
    for union in ("oneOf", "anyOf"):
        branches = schema.get(union)
        for number, branch in enumerate(branches if isinstance(branches, list) else ()):
            yield from structure_faults(branch, f"{field}.{union}[{number}]")


def _types(schema: JsonObject) -> list[str]:
    types = schema.get("type")
    return [types] if isinstance(types, str) else types if isinstance(types, list) else []


def closed(schema: Json) -> Json:
    """The schema that values are checked by: each object node without ``additionalProperties`` gets false, at whatever
    depth, and ``nullable`` becomes a type. What the author wrote stays as it is.
    """
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    if isinstance(made.get("properties"), dict):
        made["properties"] = {name: closed(child) for name, child in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = closed(made[key])
    for union in ("oneOf", "anyOf"):
        if isinstance(made.get(union), list):
            made[union] = [closed(branch) for branch in made[union]]
    types = _types(made)
    if ("object" in types or "properties" in made) and "additionalProperties" not in made:
        made["additionalProperties"] = False
    if made.pop("nullable", False):
        if types:
            made["type"] = [*types, "null"] if "null" not in types else types
        else:
            made = {"anyOf": [made, {"type": "null"}]}
    return made
