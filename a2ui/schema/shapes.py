"""Shapes: functions that report where a JSON value is not what a schema asks for (rulebook 2, 7.1, 9, 16).

Written by hand instead of running the official schemas: those need 230 us a component, and their reports name every
branch of a union that did not fit. Tests hold these shapes against the official schemas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from a2ui.errors import must_be
from a2ui.protocol.dialects import PLAIN, Notation

_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", re.ASCII
)
_IN_COMPONENT = re.compile(r"components/[0-9]+/")


Lookup: TypeAlias = Callable[[str, str], Any]
"""(name, id of a catalog or "" for the surface's own) -> the function of that name, with its `signature`, or None."""


@dataclass(slots=True)
class Check:
    """One validation: the functions that may be called, how values are written, and the (path, message) of everything
    that is wrong."""

    function: Lookup
    notation: Notation = PLAIN
    problems: list[tuple[str, str]] = field(default_factory=list)
    depth: int = 0
    """How many calls the place that is being looked at stands in."""
    clicked: bool = False
    """Whether what is looked at next is the call that a click makes, and nothing inside of it."""
    unusable: set[int] = field(default_factory=set)
    """Places among the problems of those without whose mending a call has no value."""

    def bad(self, path: str, message: str, *, unusable: bool = False) -> None:
        if unusable:
            self.unusable.add(len(self.problems))
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


def no_more(value: Any, path: str, check: Check) -> None:
    """No value: the schema does not have the property any more."""
    check.bad(path, f"There is no property {path.rpartition('/')[2]!r} any more.")


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


def divisions(value: Any, path: str, check: Check) -> None:
    """A whole number from 1; 3.0 is one as well."""
    whole = type(value) is int or (type(value) is float and value.is_integer())
    if not whole or value < 1:
        check.wrong(path, "a whole number, 1 or more", value)


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
