"""The stage that refuses: what has to hold of a document before anything is done with it (reading 2.2).

It looks neither into components nor at unknown members, and knows no lengths: those are the envelope's.
"""

from __future__ import annotations

from typing import Any

from envelopes.errors import ValidationFailed
from envelopes.protocol.strict_json import MAX_BYTES, parse_strict
from envelopes.transports.documents.formats import experimental
from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.types import Json, JsonObject

DEPTH = 128
"""Containers inside of each other in JSON text."""

_MOST = 2**64


def read_json(raw: bytes | str, *, limit: int = MAX_BYTES) -> Json:
    """The value of one JSON text in UTF-8. Raises ``InvalidInput``: ``PayloadTooLarge``, ``InvalidJson``; the latter
    also for NaN, Infinity, a key that stands twice in an object, and what is nested deeper than ``DEPTH``."""
    if len(raw) > limit:
        raise InvalidInput(
            f"This has more than {limit:,} bytes.", reason="PayloadTooLarge", allowed=limit, got=len(raw)
        )
    try:
        return parse_strict(raw if isinstance(raw, str) else raw.decode(), limit=limit, depth=DEPTH)
    except UnicodeDecodeError as error:
        raise InvalidInput("This is no UTF-8.", reason="InvalidJson") from error
    except ValidationFailed as error:
        if error.facts.get("reason") == "too_large":
            raise InvalidInput(error.message, reason="PayloadTooLarge", allowed=limit) from error
        raise InvalidInput(error.message, reason="InvalidJson") from error


def check_document_text(raw: bytes | str, *, limit: int = MAX_BYTES) -> JsonObject:
    """The document that ``raw`` holds, checked. Raises ``InvalidInput``."""
    return check_document(read_json(raw, limit=limit))


def check_document(value: Json) -> JsonObject:
    """``value``, which is a document. Raises ``InvalidInput`` for the first thing that is wrong, in the order of the
    source; ``path`` names the field."""
    if not isinstance(value, dict):
        raise InvalidInput("A document is an object.", reason="NotAnObject")
    check_version(value)
    surface = member(value, "surface")
    if not isinstance(surface, str):
        raise InvalidInput("surface has to be text.", reason="InvalidType", path="surface")
    if not surface:
        raise InvalidInput("surface is empty.", reason="EmptyField", path="surface")
    components = member(value, "components")
    if not isinstance(components, list):
        raise InvalidInput("components has to be a list.", reason="InvalidType", path="components")
    if not components:
        raise InvalidInput("components is empty.", reason="EmptyField", path="components")
    if "experimental" in value:
        experimental.check(value["experimental"])
    return value


def is_version(value: Any) -> bool:
    """Whether it is the number 1: neither ``true`` nor 1.0 is."""
    return type(value) is int and value == 1


def check_version(value: JsonObject, error: type[InvalidInput] | Any = InvalidInput) -> None:
    """Raises ``error`` unless ``v`` is 1: ``MissingField``, ``InvalidType``, ``UnsupportedVersion``."""
    version = member(value, "v", error)
    if type(version) is not int or not 0 <= version < _MOST:
        raise error("v has to be a whole number.", reason="InvalidType", path="v")
    if version != 1:
        raise error(
            f"There is no version {version} here; v has to be 1.", reason="UnsupportedVersion", path="v"
        )


def member(value: JsonObject, name: str, error: type[InvalidInput] | Any = InvalidInput) -> Json:
    """The member of this name. Raises ``error`` (``MissingField``)."""
    if name not in value:
        raise error(f"{name} is missing.", reason="MissingField", path=name)
    return value[name]
