"""Whether all that one schema accepts is accepted by another (rules 15 and 16 of 7.2).

Both are read in the dialect of contracts: objects are closed where nobody says otherwise (7.3). Bounds and formats are
not compared. Unions, listed values and references are covered by their equals only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from envelopes.transports.live.contracts.dialect import closed
from envelopes.transports.live.contracts.violations import Violation, at, cut, same
from envelopes.types import Json, JsonObject

Reason = Literal[
    "type-mismatch",
    "extra-property",
    "missing-required",
    "items-mismatch",
    "additional-properties-widens",
    "unsupported",
]

NOTHING: Final[JsonObject] = {"type": "object", "properties": {}, "additionalProperties": False}
"""What an action without a schema sends."""

_UNSUPPORTED = ("$ref", "allOf", "oneOf", "anyOf", "enum", "const")


def gaps(wider: JsonObject, narrower: JsonObject, field: str) -> list[Violation]:
    """Where ``narrower`` accepts something that ``wider`` does not; each with its ``reason``."""
    return list(_gaps(closed(wider), closed(narrower), field))


def _gap(field: str, reason: Reason, message: str) -> Violation:
    return Violation(field, message, code="CTR_SCHEMA_INCOMPAT", reason=reason)


def _gaps(wider: Json, narrower: Json, field: str) -> Iterator[Violation]:
    if same(wider, narrower) or wider is True or narrower is False:
        return
    if not isinstance(wider, dict) or not isinstance(narrower, dict):
        # Of tools, whose schemas are any JSON Schema: "anything" and "nothing" are schemas there too.
        yield _gap(field, "type-mismatch", "Anything is sent where only some is taken, or nothing.")
        return
    uncertain = [key for key in _UNSUPPORTED if key in wider or key in narrower]
    if uncertain:
        yield _gap(field, "unsupported", f"{', '.join(uncertain)} is compared only with its equal.")
        return
    taken, sent = _types(wider), _types(narrower)
    if taken and (not sent or not sent <= _with_integers(taken)):
        found = ", ".join(sorted(sent)) or "any type"
        yield _gap(field, "type-mismatch", f"{found} is sent where {', '.join(sorted(taken))} is taken.")
        return
    if "object" in sent:
        yield from _object_gaps(wider, narrower, field)
    if "array" in sent and "items" in wider:
        yield from _item_gaps(wider["items"], narrower.get("items"), field)


def _types(schema: JsonObject) -> set[str]:
    types = schema.get("type")
    if isinstance(types, str):
        return {types}
    if isinstance(types, list):
        return {name for name in types if isinstance(name, str)}
    return {"object"} if "properties" in schema else set()


def _with_integers(types: set[str]) -> set[str]:
    return types | {"integer"} if "number" in types else types


def _item_gaps(taken: Json, sent: Json, field: str) -> Iterator[Violation]:
    if sent is None:
        yield _gap(field, "items-mismatch", "Any items are sent where only some are taken.")
        return
    inner = list(_gaps(taken, sent, f"{field}.items"))
    if any(gap.reason == "type-mismatch" and gap.field == f"{field}.items" for gap in inner):
        yield _gap(f"{field}.items", "items-mismatch", inner[0].message)
    else:
        yield from inner


def _object_gaps(wider: JsonObject, narrower: JsonObject, field: str) -> Iterator[Violation]:
    taken, sent = _properties(wider), _properties(narrower)
    more_taken, more_sent = (schema.get("additionalProperties", True) for schema in (wider, narrower))
    for name, schema in sent.items():
        where = f"{field}.properties{at('.', [name])[1:]}"
        if name in taken:
            yield from _gaps(taken[name], schema, where)
        elif more_taken is False:
            yield _gap(where, "extra-property", f"'{cut(name)}' is sent and not taken.")
        else:
            yield from _gaps(more_taken, schema, where)
    if more_sent is not False:
        if more_taken is False:
            yield _gap(field, "additional-properties-widens", "Other properties are sent and not taken.")
        elif isinstance(more_taken, dict):
            if more_sent is True:
                yield _gap(
                    field,
                    "additional-properties-widens",
                    "Any other properties are sent, only some are taken.",
                )
            else:
                yield from _gaps(more_taken, more_sent, f"{field}.additionalProperties")
    for name in _required(wider):
        if name not in _required(narrower):
            yield _gap(
                f"{field}.properties.{name}",
                "missing-required",
                f"'{cut(name)}' is needed and may be left out.",
            )


def _properties(schema: JsonObject) -> JsonObject:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
