"""From the JSON of an agent to dynamic values (rulebook 7.1, section 4 of the reading of 1.0).

One parser for all dialects: a notation says by which keys bindings and calls are told and what else an object may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

from a2ui.binding.values import SYSTEM, Array, Binding, FunctionCall, Record, Value, is_dynamic
from a2ui.data.pointer import parse_scoped
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, PointerError, must_be
from a2ui.protocol.dialects import Notation
from a2ui.safety.limits import Limits

_new = tuple.__new__
"""Makes a named tuple without the detour through its own `__new__`, which costs twice as much."""

Trail: TypeAlias = "tuple[Trail, object] | None"
"""The keys and indices from a property to what is looked at inside of it, innermost first: told only where something
is wrong."""


class Where(Protocol):
    """The property that a value belongs to."""

    @property
    def limits(self) -> Limits: ...
    @property
    def notation(self) -> Notation: ...

    def add(self, message: str, code: str = VALIDATION_FAILED, *, sub: str = "", **facts: Any) -> None:
        """Takes note of a problem that does not stop the parsing; `sub` is a pointer inside of the property."""

    def refuse(self, message: str, trail: Trail, code: str = VALIDATION_FAILED, **facts: Any) -> None:
        """Takes note of a problem for which nothing of the message may be used."""

    def takes_data(self, name: str, catalog_id: str, argument: str) -> bool:
        """Whether the argument of a call may be a literal object."""


def parse(raw: Any, where: Where, *, data: bool = False, depth: int = 0, trail: Trail = None) -> Value:
    """The JSON of a position that takes a dynamic value; `data`: where a literal object may stand as well.

    In 0.9 `path` wins where an object has both `path` and `call`; an object with neither is a literal, as is one whose
    `path` or `call` is not text. A path that cannot be read is absent and reported (rulebook 6.1).
    """
    kind = type(raw)
    if kind is dict:
        notation = where.notation
        path = raw.get(notation.path)
        if type(path) is str and (len(raw) == 1 or (notation.loose_data if data else notation.loose)):
            return parse_path(path, where)
        name = raw.get(notation.call)
        if type(name) is str and not (
            data and notation.loose and notation.marked and not raw.keys() <= _SHAPE
        ):
            return _call(name, raw, where, depth, trail)
        return _object(raw, where, depth, trail, data=data) if notation.marked else raw
    if kind is list:
        return _array(raw, where, depth, trail, data=data)
    return raw  # type: ignore[no-any-return]


_CACHED_CHARS: Final = 256
_SHAPE: Final = frozenset({"call", "args", "catalogId", "returnType"})
"""The members of what the candidate takes as a call where data may stand."""
_CALL: Final = frozenset({"@call", "call", "args", "catalogId"})


def parse_path(path: str, where: Where) -> Value:
    """A binding; None, with a report, for a path that cannot be read."""
    try:
        return _binding(path) if len(path) <= _CACHED_CHARS else Binding(*parse_scoped(path))
    except PointerError as error:
        where.add(error.message)
        return None


@lru_cache(maxsize=8192)
def _binding(path: str) -> Binding:
    return Binding(*parse_scoped(path))


def _array(raw: list[Any], where: Where, depth: int, trail: Trail, *, data: bool) -> Value:
    if not any(type(item) is dict or type(item) is list for item in raw):
        return raw
    if _too_deep(where, depth, trail, data=data):
        return None
    items: tuple[Value, ...] = tuple(
        [
            parse(item, where, data=data, depth=depth + 1, trail=(trail, index))
            for index, item in enumerate(raw)
        ]
    )
    if any(map(is_dynamic, items)):
        return Array(items)
    return [*items] if where.notation.marked else raw


def _object(raw: dict[str, Any], where: Where, depth: int, trail: Trail, *, data: bool) -> Value:
    """An object that is neither a binding nor a call as 1.0 wants them."""
    for key in raw:
        if key[:1] == "@" and key[1:2] != "@":
            _reserved(key, where, trail)
            return None
    if not data:
        return _bare(raw, where, depth, trail)
    if _too_deep(where, depth, trail, data=True):
        return None
    members: dict[str, Value] = {}
    for key, value in raw.items():
        name = key[1:] if key[:2] == "@@" else key
        kind = type(value)
        members[name] = (
            parse(value, where, data=True, depth=depth + 1, trail=(trail, key))
            if kind is dict or kind is list
            else value
        )
    return Record(members) if any(map(is_dynamic, members.values())) else members


def _bare(raw: dict[str, Any], where: Where, depth: int, trail: Trail) -> Value:
    """An object where only a binding or a call can stand: also one that has its keys without @ (4.2)."""
    path, name = raw.get("path"), raw.get("call")
    if type(path) is not str and type(name) is not str:
        return raw
    if where.notation.tells_bare:
        key = "path" if type(path) is str else "call"
        where.add(f"Write @{key}: without the @ it belongs to older versions.", sub=pointer((trail, key)))
    return parse_path(path, where) if type(path) is str else _call(str(name), raw, where, depth, trail)


def _call(name: str, raw: dict[str, Any], where: Where, depth: int, trail: Trail) -> Value:
    limits, args = where.limits, raw.get("args")
    if depth >= limits.call_depth:
        where.add(_NESTED.format(limits.call_depth), BUDGET_EXCEEDED, **_depth_facts(limits))
        return None
    notation = where.notation
    marked = notation.marked
    # Most calls have a name and arguments, and nothing else.
    usual = not marked or (len(raw) == 2 and "args" in raw and name[:1] != "@")
    catalog_id = "" if usual else _catalog_of(name, raw, where, trail)
    if catalog_id is None:
        return None
    if not isinstance(args, dict):
        if args is not None:
            where.add(must_be(f"args of {name[:40]}", "an object", args))
        args = {}
    if len(args) > limits.call_arguments:
        where.add(
            f"A call has at most {limits.call_arguments} arguments.",
            BUDGET_EXCEEDED,
            limit="call_arguments",
            allowed=limits.call_arguments,
        )
        return None
    arguments = args
    for key, value in args.items():
        kind = type(value)
        if marked and key[:1] == "@":
            _reserved(key, where, (trail, "args"))
            return None
        if kind is dict or kind is list:
            if arguments is args:
                # What holds only plain values is kept as it is.
                arguments = args.copy()
            if kind is dict and len(value) == 1 and type(path := value.get(notation.path)) is str:
                # A binding is one wherever it stands.
                arguments[key] = parse_path(path, where)
                continue
            data = marked and where.takes_data(name, catalog_id, key)
            inside = ((trail, "args"), key)
            arguments[key] = parse(value, where, data=data, depth=depth + 1, trail=inside)
    return _new(FunctionCall, (name, arguments, catalog_id))


def _catalog_of(name: str, raw: Mapping[str, Any], where: Where, trail: Trail) -> str | None:
    """The catalog that a call names, "" for none; None, with a report, where the call cannot be used."""
    if len(raw) > 1 and not raw.keys() <= _CALL and where.notation.call in raw:
        for key in raw.keys() - _CALL:
            if key[:1] == "@":
                _reserved(key, where, trail)
                return None
            if where.notation.call != "call":
                where.add(f"A call has no member {key[:40]!r}.", sub=pointer((trail, key)))
    catalog_id = raw.get("catalogId")
    if name[:1] == "@":
        if catalog_id is None:
            return SYSTEM
        where.add(f"{name[:40]} belongs to no catalog.", sub=pointer((trail, "catalogId")))
        return None
    if catalog_id is None:
        return ""
    if isinstance(catalog_id, str) and catalog_id != SYSTEM:
        return catalog_id
    where.add(must_be("catalogId", "the id of a catalog", catalog_id), sub=pointer((trail, "catalogId")))
    return None


def _reserved(key: str, where: Where, trail: Trail) -> None:
    if key in {"@path", "@call"}:
        message = f"`{key}` must be a text, and nothing else may stand beside it"
        message += "." if key == "@path" else " but args and catalogId."
    else:
        message = f"Keys that start with @ are reserved; write @{key[:40]}."
    where.refuse(message, (trail, key))


_NESTED: Final = "Calls are nested more than {} levels deep."


def _depth_facts(limits: Limits) -> dict[str, Any]:
    return {"limit": "call_depth", "allowed": limits.call_depth}


def _too_deep(where: Where, depth: int, trail: Trail, *, data: bool) -> bool:
    """Whether a list or an object is too deep inside of others. Data is refused then: without what is inside of it, it
    would be another value than the agent meant."""
    limits = where.limits
    if not (data and where.notation.marked):
        if depth < limits.call_depth:
            return False
        where.add(_NESTED.format(limits.call_depth), BUDGET_EXCEEDED, **_depth_facts(limits))
        return True
    if depth < limits.data_depth:
        return False
    message = f"A value is nested more than {limits.data_depth} levels deep."
    where.refuse(message, trail, BUDGET_EXCEEDED, limit="data_depth", allowed=limits.data_depth)
    return True


def pointer(trail: Trail) -> str:
    """The JSON Pointer of a trail."""
    tokens: list[str] = []
    while trail is not None:
        trail, key = trail
        tokens.append(str(key)[:40].replace("~", "~0").replace("/", "~1"))
    return "".join(["/" + token for token in reversed(tokens)])
