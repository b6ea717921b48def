"""All that a set of surfaces is inside, as text: every object that can be reached, whatever it is held by.

Two sets with the same text behave the same. What is only remembered to save work is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any

from a2ui import Engine, SurfaceSet
from a2ui.catalog.registry import Catalog, Catalogs
from a2ui.components import BaseComponent
from a2ui.functions.registry import Env, Function
from a2ui.journal import Journal
from a2ui.options import EngineOptions
from a2ui.protocol.dialects import Notation
from a2ui.safety.limits import Limits

_SHARED = (
    Engine,
    EngineOptions,
    Env,
    Catalog,
    Catalogs,
    Notation,
    BaseComponent,
    Function,
    Journal,
    Limits,
    type,
    BuiltinFunctionType,
)
_LEFT_OUT = {
    "_first", "_latest", "_noted", "_noticed", "_owned", "_parsed", "_present", "_references", "_unbuilt", "at",
    "dropped",
}  # fmt: skip
"""Attributes that are looked up again where they are not known, and what only counts while something is going on."""
_UNORDERED = {"_by_dom_id", "_offers", "_places", "children", "numbers", "shown", "states"}


def described(surfaces: SurfaceSet) -> list[str]:
    """A line for each object, in the order in which they are met."""
    numbers: dict[int, int] = {}
    waiting: list[Any] = []
    lines: list[str] = []

    def named(value: Any) -> str:
        if value is None or isinstance(value, str | int | float | bytes):
            return repr(value)
        if value == {}:
            # Of those that are empty, many places share one.
            return "{}"
        if isinstance(value, _SHARED):
            return type(value).__name__
        if id(value) not in numbers:
            numbers[id(value)] = len(numbers)
            waiting.append(value)
        return f"#{numbers[id(value)]}"

    named(surfaces)
    for value in waiting:  # which grows on the way
        parts = [f"{label}={named(part)}" for label, part in _parts(value)]
        lines.append(f"{type(value).__name__} {' '.join(parts)}")
    return lines


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield "key", key
            yield "item", item
    elif isinstance(value, set | frozenset):
        yield from (("member", repr(member)) for member in sorted(value, key=repr))
    elif isinstance(value, list | tuple):
        yield from (("element", element) for element in value)
        if hasattr(value, "_template"):
            yield "template", value._template
    elif isinstance(value, partial):
        yield "function", value.func
        yield "arguments", value.args
    elif isinstance(value, MethodType):
        yield "name", value.__name__
        yield "self", value.__self__
    elif isinstance(value, FunctionType):
        yield "name", value.__qualname__
        yield from (("cell", cell) for cell in value.__closure__ or ())
    elif isinstance(value, CellType):
        yield "content", value.cell_contents
    else:
        yield from _attributes(value)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    for name in dict.fromkeys([*names, *getattr(value, "__dict__", ())]):
        if name in _LEFT_OUT or name.startswith("__") or not hasattr(value, name):
            continue
        found = getattr(value, name)
        if name in _UNORDERED and isinstance(found, dict):
            found = dict(sorted(found.items(), key=lambda entry: str(entry[0])))
        yield name, found
