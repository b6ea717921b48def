"""Shapes: functions that report where a JSON value is not what a schema asks for (rulebook 2, 7.1, 9, 16).

Written by hand instead of running the official schemas: those need 230 us a component, and their reports name every
branch of a union that did not fit. Tests hold these shapes against the official schemas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from a2ui.errors import must_be

if TYPE_CHECKING:
    from a2ui.functions.registry import FunctionRegistry

CALL_DEPTH: Final = 5
"""Levels of calls inside the arguments of calls; not in the schemas, but what strict validators ask for (9.1)."""

_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", re.ASCII
)
_TIME = re.compile(
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_IN_COMPONENT = re.compile(r"components/[0-9]+/")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(slots=True)
class Check:
    """One validation: the functions that may be called, and the (path, message) of everything that is wrong."""

    functions: FunctionRegistry
    problems: list[tuple[str, str]] = field(default_factory=list)
    depth: int = 0
    """How many calls the place that is being looked at stands in."""

    def bad(self, path: str, message: str) -> None:
        self.problems.append((path, message))

    def wrong(self, path: str, expected: str, got: object, *, quoted: bool = False) -> None:
        """A value of the wrong kind, see `must_be`; it is named by where it stands in its component."""
        self.bad(path, must_be(_IN_COMPONENT.sub("", path[1:]), expected, got, quoted=quoted))


Shape: TypeAlias = Callable[[Any, str, Check], None]
"""`shape(value, path, check)` reports to `check` where the value does not fit."""


def below(path: str, key: object) -> str:
    """The JSON Pointer of a key or index inside of what is at `path`."""
    return f"{path}/{str(key)[:40].replace('~', '~0').replace('/', '~1')}"


# ---- literals


def anything(value: Any, path: str, check: Check) -> None:
    """Every value."""


def string(value: Any, path: str, check: Check) -> None:
    if type(value) is not str:
        check.wrong(path, "text", value)


def number(value: Any, path: str, check: Check) -> None:
    if type(value) is not int and type(value) is not float:
        check.wrong(path, "a number", value)


def boolean(value: Any, path: str, check: Check) -> None:
    if type(value) is not bool:
        check.wrong(path, "true or false", value)


def count(value: Any, path: str, check: Check) -> None:
    """A whole number from 0; 3.0 is one as well."""
    whole = type(value) is int or (type(value) is float and value.is_integer())
    if not whole or value < 0:
        check.wrong(path, "a whole number, 0 or more", value)


def array(value: Any, path: str, check: Check) -> None:
    if type(value) is not list:
        check.wrong(path, "a list", value)


def uri(value: Any, path: str, check: Check) -> None:
    """A text with a scheme, as RFC 3986 has it."""
    if type(value) is not str or not _URI.fullmatch(value):
        check.wrong(path, "an absolute URI", value, quoted=True)


def one_of(*values: str) -> Shape:
    """One of these texts."""
    allowed = frozenset(values)
    expected = "one of " + ", ".join(values)

    def shape(value: Any, path: str, check: Check) -> None:
        if type(value) is not str or value not in allowed:
            check.wrong(path, expected, value, quoted=True)

    return shape


# ---- structure


def list_of(item: Shape, at_least: int = 0) -> Shape:
    """A list, each item of a shape."""

    def shape(value: Any, path: str, check: Check) -> None:
        if type(value) is not list:
            check.wrong(path, "a list", value)
            return
        if len(value) < at_least:
            check.wrong(path, f"a list of at least {at_least}", value)
        for index, entry in enumerate(value):
            item(entry, below(path, index), check)

    return shape


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these keys and no others."""
    known = {**required, **(optional or {})}

    def shape(value: Any, path: str, check: Check) -> None:
        if type(value) is not dict:
            check.wrong(path, "an object", value)
            return
        for key, entry in value.items():
            inner = known.get(key)
            if inner is None:
                check.bad(below(path, key), f"There is no property {str(key)[:40]!r} here.")
            else:
                inner(entry, below(path, key), check)
        for key in required:
            if key not in value:
                check.bad(below(path, key), f"`{key}` is required.")

    return shape


# ---- dynamic values (7.1)


def _binding(value: dict[str, Any], path: str, check: Check) -> None:
    if len(value) != 1 or type(value["path"]) is not str:
        check.wrong(path, 'a binding: {"path": text} and nothing else', value)


def dynamic(literal: Shape, returns: str) -> Shape:
    """A literal, a binding, or a call whose `returnType`, where it is given, is `returns`."""

    def shape(value: Any, path: str, check: Check) -> None:
        if type(value) is not dict:
            literal(value, path, check)
        elif "path" in value:
            _binding(value, path, check)
        else:
            call(value, path, check)
            if value.get("returnType", returns) != returns:
                check.bad(below(path, "returnType"), f"A function that returns {returns} is needed here.")

    return shape


dynamic_string = dynamic(string, "string")
dynamic_number = dynamic(number, "number")
dynamic_boolean = dynamic(boolean, "boolean")
dynamic_string_list = dynamic(list_of(string), "array")


def dynamic_value(value: Any, path: str, check: Check) -> None:
    """Any literal but null and plain objects; items of a list are not looked at."""
    if value is None:
        check.wrong(path, "a value", value)
    elif type(value) is dict:
        if "path" in value:
            _binding(value, path, check)
        else:
            call(value, path, check)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes: arguments by name; `any_of` are arguments of which at least one is needed."""

    returns: str
    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)
    any_of: tuple[str, ...] = ()


def call(value: Any, path: str, check: Check) -> None:
    """A function call; the arguments of a function without a signature are not looked at."""
    name = value.get("call") if type(value) is dict else None
    if type(name) is not str:
        check.wrong(path, 'a function call: {"call": name}', value)
        return
    for key in value.keys() - {"call", "args", "returnType"}:
        check.bad(below(path, key), f"There is no property {str(key)[:40]!r} in a function call.")
    function = check.functions.get(name)
    if function is None:
        check.bad(below(path, "call"), f"There is no function {name[:40]!r}.")
        return
    if check.depth >= CALL_DEPTH:
        check.bad(path, f"functionCall depth: calls are nested more than {CALL_DEPTH} levels deep.")
        return
    signature = function.signature
    if signature is not None and value.get("returnType", signature.returns) != signature.returns:
        check.bad(below(path, "returnType"), f"{name} returns {signature.returns}.")
    args = value.get("args") if "args" in value or signature is not None else {}
    if type(args) is not dict:
        check.wrong(below(path, "args"), "an object", value.get("args", ...))
        return
    check.depth += 1
    _arguments(signature, args, below(path, "args"), check)
    check.depth -= 1


def _arguments(signature: Signature | None, args: dict[str, Any], path: str, check: Check) -> None:
    for key, argument in args.items():
        if argument is None:
            check.wrong(below(path, key), "a value", argument)
    if signature is None:
        return
    given = {key: argument for key, argument in args.items() if argument is not None}
    known = {**signature.required, **signature.optional}
    for key, argument in given.items():
        if key not in known:
            check.bad(below(path, key), f"There is no argument {key[:40]!r}.")
        else:
            known[key](argument, below(path, key), check)
    for key in signature.required:
        if key not in args:
            check.bad(below(path, key), f"`{key}` is required.")
    if signature.any_of and not any(key in args for key in signature.any_of):
        check.bad(path, "One of " + ", ".join(signature.any_of) + " is required.")


# ---- what components are made of (7.5, 11, 13, 16)

_static_children = list_of(string)
_template = record({"componentId": string, "path": string})


def children(value: Any, path: str, check: Check) -> None:
    """A list of ids, or a template."""
    (_template if type(value) is dict else _static_children)(value, path, check)


tabs = list_of(record({"title": dynamic_string, "child": string}), at_least=1)
options = list_of(record({"label": dynamic_string, "value": string}))
checks = list_of(record({"condition": dynamic_boolean, "message": string}))


def _context(value: Any, path: str, check: Check) -> None:
    if type(value) is not dict:
        check.bad(path, "The context is an object.")
        return
    for key, entry in value.items():
        dynamic_value(entry, below(path, key), check)


_event = record({"event": record({"name": string}, {"context": _context})})
_local = record({"functionCall": call})


def action(value: Any, path: str, check: Check) -> None:
    """`{event}` or `{functionCall}`."""
    (_local if type(value) is dict and "functionCall" in value else _event)(value, path, check)


def accessibility(value: Any, path: str, check: Check) -> None:
    """label and description; the schema lets other keys pass."""
    if type(value) is not dict:
        check.wrong(path, "an object", value)
        return
    for key in ("label", "description"):
        if key in value:
            dynamic_string(value[key], below(path, key), check)


def moment(value: Any, path: str, check: Check) -> None:
    """DynamicString; a literal is a date, a time with an offset, or both (ISO 8601 as RFC 3339 has it)."""
    dynamic_string(value, path, check)
    if type(value) is str and not _is_moment(value):
        check.bad(path, "This is a date, a time or a date and time with an offset (ISO 8601).")


def _is_moment(text: str) -> bool:
    if _TIME.fullmatch(text):
        return True
    if not _DATE.match(text):
        return False
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return len(text) == 10 or (text[10] in "Tt" and _TIME.fullmatch(text, 11) is not None)
