"""The definition of the respond() tool for a model: a schema for each part type that it may emit.

Source: the respond() document ("Tool schema", "Turn states"); D7.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache

from envelopes.protocol.respond import MAX_PARTS, MAX_TASK, RESPOND
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.turn_states import turn_states
from envelopes.types import Json, JsonObject

_SHARED: JsonObject = {
    "partId": {"type": "string", "description": "The same id continues that part instead of starting one."},
    "dataKind": {"type": "string", "description": "What kind of data this is."},
    "slotKey": {
        "type": "string",
        "description": "Where data belongs: what comes later for the same slot replaces it or joins it.",
    },
}
"""Members of the metadata of parts. They are told once, and parts refer to them."""


def offered(actor: object = None) -> tuple[PartType, ...]:
    """The part types that models of ``actor`` are told of: those that it may emit and that do something there. None
    stands for an actor with nothing of its own."""
    return tuple(
        kind
        for kind in part_types
        if "actor" in kind.origins and (kind.offered is None or kind.offered(actor))
    )


def respond_tool(
    others: Mapping[str, str] | None = None, kinds: Iterable[PartType] | None = None
) -> JsonObject:
    """The tool definition, with these part types (by default those ``offered`` to anybody) and the registered turn
    states. ``others`` are the actors that the model can pass to and ask, with what each is for; where that is nobody,
    states that need one are left out. The same object each time, for whoever only reads it.

    ``metadata`` stands before ``text`` so that a part's type is known before its text streams (D7).
    """
    found = offered() if kinds is None else tuple(kinds)
    # Beside the registries, what their data is may change with what applications say of it.
    data = tuple(json.dumps(kind.data_schema()) if kind.data_schema is not None else "" for kind in found)
    told = None if others is None else tuple(others.items())
    versions = (part_types.version, turn_states.version)
    return _tool(tuple(kind.name for kind in found), data, told, versions)


@lru_cache(maxsize=64)
def _tool(
    names: tuple[str, ...],
    data: tuple[str, ...],
    others: tuple[tuple[str, str], ...] | None,
    versions: tuple[int, int],
) -> JsonObject:
    # Asked for at each step of each turn, and schemas of models take their time.
    alone = others is not None and not others
    states = [s for s in turn_states if s.declarable and not (alone and (s.passes or s.delegates))]
    shared: JsonObject = dict(_SHARED)
    parts = [
        part_schema(part_types[name], shared, json.loads(given) if given else None)
        for name, given in zip(names, data, strict=True)
    ]
    return {
        "name": RESPOND,
        "description": (
            "Emit output. This is the only way to say or show anything to anyone: text outside this tool is "
            "discarded. Call it early and several times in a turn."
        ),
        "input_schema": {
            "type": "object",
            "required": ["parts", "turnState"],
            "properties": {
                "parts": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MAX_PARTS,
                    "description": "Parts in the order in which they should be read. In each, metadata comes first.",
                    "items": {"anyOf": parts},
                },
                "turnState": {
                    "type": "string",
                    "enum": [s.name for s in states],
                    "description": " ".join(f"{s.name}: {s.meaning}." for s in states),
                },
                **_naming(None if others is None else dict(others)),
                "note": {"type": "string", "description": "For the log; delivered to nobody."},
            },
            "additionalProperties": False,
            "$defs": shared,
        },
    }


def part_schema(kind: PartType, shared: JsonObject, data: JsonObject | None = None) -> JsonObject:
    """The schema of a part of ``kind``. Definitions that its data refers to are added to ``shared``, under names of
    their own. ``data`` is what its data is now, where the type says so itself."""
    names = ["partId", *(("dataKind", "slotKey") if kind.data != "none" else ())]
    metadata: JsonObject = {
        "type": "object",
        "properties": {
            "partType": {"const": kind.name},
            **{name: {"$ref": f"#/$defs/{name}"} for name in names},
        },
        "required": ["partType"],
    }
    properties: JsonObject = {"metadata": metadata}
    if kind.text != "none":
        properties["text"] = {"type": "string"}
    if kind.data != "none":
        properties["data"] = data if data is not None else _data(kind, shared)
    needed = [name for name in ("text", "data") if getattr(kind, name) == "required"]
    return {
        "type": "object",
        "properties": properties,
        "required": ["metadata", *needed],
        "additionalProperties": False,
    }


def _data(kind: PartType, shared: JsonObject) -> JsonObject:
    if kind.data_model is None:
        return {"type": "object"}
    schema = kind.data_model.model_json_schema()
    for name, definition in schema.pop("$defs", {}).items():
        shared[f"{kind.name}.{name}"] = _slim(definition, kind.name)
    found: JsonObject = _slim(schema, kind.name)
    return found


def _slim(schema: Json, prefix: str) -> Json:
    """A schema of pydantic's without what says nothing to a model: titles, descriptions of classes, nulls."""
    if isinstance(schema, list):
        return [_slim(one, prefix) for one in schema]
    if not isinstance(schema, dict):
        return schema
    either = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(either) == 1:
        schema = {**{key: one for key, one in schema.items() if key != "anyOf"}, **either[0]}
    found: JsonObject = {}
    for key, one in schema.items():
        if key == "properties" and isinstance(one, dict):
            # Here names are not words of the schema.
            found[key] = {name: _slim(member, prefix) for name, member in one.items()}
        elif key == "$ref":
            found[key] = str(one).replace("#/$defs/", f"#/$defs/{prefix}.")
        elif key == "default":
            found |= {} if one is None else {key: one}
        elif key != "title" and not (key == "additionalProperties" and one is True):
            found[key] = one if key in ("enum", "const", "required") else _slim(one, prefix)
    if "properties" in found:
        # What is written of a class is for whoever reads its code.
        found.pop("description", None)
    return found


def _naming(others: Mapping[str, str] | None) -> JsonObject:
    """How another actor is named."""
    if others is not None and not others:
        return {}
    enum: JsonObject = {"enum": list(others)} if others else {}
    passing = " or ".join(f"'{s.name}'" for s in turn_states if s.passes)
    asking = " or ".join(f"'{s.name}'" for s in turn_states if s.delegates)
    return {
        "passTo": {
            "type": "string",
            **enum,
            "description": f"The actor that takes over; only with {passing}.",
        },
        "delegateTo": {
            "type": "string",
            **enum,
            "description": f"The actor that answers within your turn; only with {asking}.",
        },
        "task": {
            "type": "string",
            "maxLength": MAX_TASK,
            "description": "What the actor in delegateTo is to do. It reads what the person wrote, too.",
        },
    }
