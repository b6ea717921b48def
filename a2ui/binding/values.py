"""Dynamic values as the engine keeps them: parsed once from JSON (`binding.parsing`), compiled later (rulebook 7.1).

A `Value` is either plain JSON, which is a literal, or one of the node classes below. What looks like a binding and is
data stays plain JSON here: nothing reads a `Value` again as if it were JSON of an agent. The nodes are named tuples,
the cheapest thing to make, since a surface has thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from a2ui.data.pointer import Tokens
from a2ui.data.values import JSON


class Binding(NamedTuple):
    """`{"@path": P}`: what the data model holds at the tokens, from the root or from the scope."""

    tokens: Tokens
    absolute: bool


class FunctionCall(NamedTuple):
    """`{"@call": F, "args": {...}, "catalogId": C}`."""

    name: str
    arguments: Mapping[str, Value]
    catalog_id: str = ""
    """Whose function it is: "" for the default catalog of the surface, SYSTEM for one of the protocol's own."""


SYSTEM: Final = "@"
"""Stands for a catalog where a function belongs to the protocol (`@index`). No id of a catalog that is known."""


class Array(NamedTuple):
    """A list with at least one dynamic item; each item is resolved."""

    items: tuple[Value, ...]


class Record(NamedTuple):
    """A literal object with at least one dynamic member, at whatever depth; each member is resolved."""

    members: Mapping[str, Value]


Value: TypeAlias = "JSON | Binding | FunctionCall | Array | Record"

NODES: Final = (Binding, FunctionCall, Array, Record)

_DYNAMIC: Final = frozenset(NODES)


def is_dynamic(value: object) -> bool:
    """Whether the parsed value depends on the data model or runs a function."""
    return type(value) in _DYNAMIC
