"""The two spellings of dynamic values: which objects are bindings and calls, and which are plain data.

v0.9 (rulebook 7.1): an object whose ``path`` is text is a binding, one whose ``call`` is text a call; other objects
are literals, and nobody looks inside of them. 1.0 (4.1, 4.2): ``@path`` and ``@call``, at any depth; ``@@x`` is the
plain key ``@x``. The candidate wrote the bare keys of v0.9 in that place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from a2ui.functions.signatures import SIGNATURES
from a2ui.schema.shapes import below

CALL_KEYS: Final = frozenset({"call", "args", "catalogId", "returnType"})
ENVELOPE: Final = ("catalogId", "accessibility", "metadata", "checks")
"""Keys of a component that 1.0 writes with ``@``."""

_FREE: Final = frozenset({"required.value", "formatDate.value"})
"""Arguments of the Basic Catalog's functions that take plain objects as well."""
_BASIC: Final = frozenset(SIGNATURES)


def is_free(call: str, argument: str) -> bool:
    """Whether the argument of a function may be a plain object: then only the spelling of its dialect is dynamic."""
    return call not in _BASIC or f"{call}.{argument}" in _FREE


class Call(NamedTuple):
    """What a call says, whatever its spelling."""

    name: str
    args: Any
    """As it stands; None where it has none."""
    catalog_id: Any = None


def call_of_09(value: Mapping[str, Any]) -> Call | None:
    """The call that v0.9 sees in an object."""
    name = value.get("call")
    return Call(name, value.get("args"), value.get("catalogId")) if isinstance(name, str) else None


def bare_binding(value: Mapping[str, Any]) -> str | None:
    """The path of an object that cannot be anything but a binding with the bare key."""
    path = value.get("path")
    return path if len(value) == 1 and isinstance(path, str) else None


def bare_call(value: Mapping[str, Any]) -> Call | None:
    """The call of an object that has no key but those of a call, bare."""
    return call_of_09(value) if value.keys() <= CALL_KEYS else None


def speaks_with_at(message: Any) -> bool:
    """Whether a message of 1.0 has any directive or key of the envelope with ``@``, or the final version: then bare
    ``path`` and ``call`` are data where plain objects may stand (4.2)."""
    if isinstance(message, dict):
        if message.get("version") == "1.0":
            return True
        return any(
            (key[:1] == "@" and key[1:2] != "@") or speaks_with_at(value) for key, value in message.items()
        )
    return isinstance(message, list) and any(map(speaks_with_at, message))


def escaped(value: Any) -> Any:
    """Plain data as 1.0 writes it inside of a dynamic value: keys that start with ``@`` get another one."""
    if isinstance(value, dict):
        return {f"@{key}" if key[:1] == "@" else key: escaped(item) for key, item in value.items()}
    return [escaped(item) for item in value] if isinstance(value, list) else value


def at(path: str, *keys: object) -> str:
    """The JSON Pointer further down."""
    for key in keys:
        path = below(path, key)
    return path
