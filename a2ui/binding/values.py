"""Dynamic values as the engine keeps them: parsed once from JSON, compiled later (rulebook section 7.1).

A `Value` is either plain JSON, which is a literal, or one of the node classes below. These are named tuples, the
cheapest thing to make, since a surface has thousands of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, PointerError, must_be
from a2ui.safety.limits import Limits
from a2ui.state.pointer import Tokens, parse_scoped
from a2ui.state.values import JSON


class Binding(NamedTuple):
    """`{"path": P}`: what the data model holds at the tokens, from the root or from the scope."""

    tokens: Tokens
    absolute: bool


class FunctionCall(NamedTuple):
    """`{"call": F, "args": {...}}`."""

    name: str
    arguments: Mapping[str, Value]


class Array(NamedTuple):
    """A list with at least one dynamic item; each item is resolved."""

    items: tuple[Value, ...]


Value: TypeAlias = "JSON | Binding | FunctionCall | Array"

_new = tuple.__new__
"""Makes a named tuple without the detour through its own `__new__`, which costs twice as much."""

_DYNAMIC: Final = frozenset({Binding, FunctionCall, Array})

Report: TypeAlias = Callable[..., None]
"""`report(message, code=..., **facts)`: takes note of a problem that does not stop the parsing."""


def is_dynamic(value: object) -> bool:
    """Whether the parsed value depends on the data model or runs a function."""
    return type(value) in _DYNAMIC


def parse(raw: Any, report: Report, limits: Limits, depth: int = 0) -> Value:
    """The JSON of a position that takes a dynamic value.

    `path` wins where an object has both `path` and `call`; an object with neither is a literal, as is one whose
    `path` or `call` is not text. A path that cannot be read is absent and reported (rulebook 6.1).
    """
    if type(raw) is dict:
        path = raw.get("path")
        if type(path) is str:
            try:
                return _binding(path) if len(path) <= _CACHED_CHARS else Binding(*parse_scoped(path))
            except PointerError as error:
                report(error.message, VALIDATION_FAILED)
                return None
        name = raw.get("call")
        if type(name) is str:
            return _call(name, raw.get("args"), report, limits, depth)
        return raw
    if type(raw) is list:
        if not any(type(item) is dict or type(item) is list for item in raw):
            return raw
        if depth >= limits.call_depth:
            _too_deep(report, limits)
            return None
        items: tuple[Value, ...] = tuple([parse(item, report, limits, depth + 1) for item in raw])
        return Array(items) if any(map(is_dynamic, items)) else raw
    return raw  # type: ignore[no-any-return]


def parse_path(path: str, report: Report) -> Value:
    """A binding; None, with a report, for a path that cannot be read."""
    try:
        return _binding(path) if len(path) <= _CACHED_CHARS else Binding(*parse_scoped(path))
    except PointerError as error:
        report(error.message, VALIDATION_FAILED)
        return None


_CACHED_CHARS = 256


@lru_cache(maxsize=8192)
def _binding(path: str) -> Binding:
    return Binding(*parse_scoped(path))


def _call(name: str, args: Any, report: Report, limits: Limits, depth: int) -> Value:
    if depth >= limits.call_depth:
        _too_deep(report, limits)
        return None
    if not isinstance(args, dict):
        if args is not None:
            report(must_be(f"args of {name[:40]}", "an object", args), VALIDATION_FAILED)
        args = {}
    if len(args) > limits.call_arguments:
        report(
            f"A call has at most {limits.call_arguments} arguments.",
            BUDGET_EXCEEDED,
            limit="call_arguments",
            allowed=limits.call_arguments,
        )
        return None
    arguments = args
    for key, value in args.items():
        if type(value) is dict or type(value) is list:
            if arguments is args:
                # What holds only plain values is kept as it is.
                arguments = args.copy()
            arguments[key] = parse(value, report, limits, depth + 1)
    return _new(FunctionCall, (name, arguments))


def _too_deep(report: Report, limits: Limits) -> None:
    report(
        f"Calls are nested more than {limits.call_depth} levels deep.",
        BUDGET_EXCEEDED,
        limit="call_depth",
        allowed=limits.call_depth,
    )
