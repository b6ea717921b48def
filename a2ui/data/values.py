"""JSON values as the engine keeps them: what is allowed, independent copies, sizes, equality by JSON type."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from a2ui.errors import DataError, LimitError
from a2ui.safety.limits import Limits
from a2ui.safety.text import clean_string

JSON: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
"""Any JSON value. Members are `Any`, because a recursive alias cannot be used with invariant containers."""

FORBIDDEN: Final = frozenset({"__proto__", "prototype", "constructor"})
"""Never a key of a data model: the model also travels to JavaScript, where these do harm (D29)."""

_MAX_PLAIN = 2**62
_ALIKE_FROM = 16
_MAX_DROPPED = 100
"""Reserved members that are reported; one value may have very many."""
_MAX_INTEGER = 2**1024
"""Larger integers have no counterpart in a reader that knows doubles only."""


def pointer_text(tokens: Iterable[str]) -> str:
    """RFC 6901 text of the tokens: none is `""`."""
    return "".join(
        ["/" + (t.replace("~", "~0").replace("/", "~1") if "~" in t or "/" in t else t) for t in tokens]
    )


class Copier:
    """Makes clean, independent copies of JSON values and counts what they hold.

    `dropped` collects the tokens of the first reserved members that were left out, `nodes` the values copied, `bytes`
    their size as in `measure`. One copier may copy several values; the counts add up.
    """

    __slots__ = ("_depth", "_names", "_trail", "bytes", "dropped", "nodes")

    def __init__(self, limits: Limits) -> None:
        self._depth = limits.data_depth
        self._trail: list[str] = []
        self._names: dict[str, int] = {}
        """The size of each clean name so far: lists of objects have the same ones again and again."""
        self.nodes = 0
        self.bytes = 0
        self.dropped: list[tuple[str, ...]] = []

    def copy(self, value: Any, at: tuple[str, ...] = ()) -> Any:
        """A copy of the value that will stand at the tokens `at`.

        Raises DataError for what is not JSON (NaN, Infinity, foreign types, keys that are not text), LimitError
        when a container would stand deeper than `data_depth`.
        """
        self._trail = list(at)
        return self._copy(value)

    def _copy(self, value: Any) -> Any:
        self.nodes += 1
        kind = type(value)
        if kind is str:
            if value.isascii() and "\0" not in value:
                self.bytes += len(value) + 2
                return value
            text = clean_string(value)
            self.bytes += len(text.encode()) + 2
            return text
        if kind is dict:
            return self._object(value)
        if kind is list:
            return self._array(value)
        if kind is float:
            if not math.isfinite(value):
                raise DataError("NaN and Infinity are not JSON.", path=pointer_text(self._trail))
            self.bytes += 8
            return value
        if kind is int:
            if not -_MAX_INTEGER < value < _MAX_INTEGER:
                raise DataError("A number is too large.", path=pointer_text(self._trail))
            self.bytes += 8
            return value
        if kind is bool or value is None:
            self.bytes += 4
            return value
        return self._subclass(value)

    def _subclass(self, value: Any) -> Any:
        # An enum or a marked string: keep the JSON value, not the class.
        self.nodes -= 1
        plain: type[Any]
        for plain in (str, int, float, dict, list):
            if isinstance(value, plain):
                return self._copy(plain(value))
        if isinstance(value, tuple):
            return self._copy(list(value))
        raise DataError(f"{type(value).__name__} is not a JSON value.", path=pointer_text(self._trail))

    def _enter(self) -> None:
        if len(self._trail) >= self._depth:
            where = pointer_text(self._trail[:8])
            raise LimitError(
                "The value is nested too deeply.", path=where, limit="data_depth", allowed=self._depth
            )
        self.bytes += 2

    def _object(self, value: dict[Any, Any]) -> dict[str, Any]:
        self._enter()
        result: dict[str, Any] = {}
        trail = self._trail
        names = self._names
        size = nodes = 0
        for name, item in value.items():
            if type(name) is not str:
                raise DataError("A member name is not text.", path=pointer_text(trail))
            key = name
            extra = names.get(name)
            if extra is None:
                key = clean_string(name)
                if key in FORBIDDEN:
                    if len(self.dropped) < _MAX_DROPPED:
                        self.dropped.append((*trail, key))
                    continue
                extra = names[key] = member_bytes(key)
            size += extra
            # What nearly all members are; only containers and faults look at the trail.
            kind = type(item)
            if kind is str and item.isascii() and "\0" not in item:
                size += len(item) + 2
                nodes += 1
                result[key] = item
            elif kind is int and -_MAX_PLAIN < item < _MAX_PLAIN:
                size += 8
                nodes += 1
                result[key] = item
            else:
                trail.append(key)
                result[key] = self._copy(item)
                trail.pop()
        self.bytes += size
        self.nodes += nodes
        return result

    def _alike(self, value: list[Any]) -> bool:
        """Counts a list of scalars of one type that are kept as they are, at once: a list may have a million."""
        kinds = set(map(type, value))
        if kinds == {int}:
            if not (min(value) > -_MAX_PLAIN and max(value) < _MAX_PLAIN):
                return False
            self.bytes += 8 * len(value)
        elif kinds == {str}:
            text = "".join(value)
            if not text.isascii() or "\0" in text:
                return False
            self.bytes += len(text) + 2 * len(value)
        elif kinds <= {bool, type(None)}:
            self.bytes += 4 * len(value)
        else:
            return False
        self.nodes += len(value)
        return True

    def _array(self, value: list[Any]) -> list[Any]:
        self._enter()
        self.bytes += len(value)
        if len(value) > _ALIKE_FROM and self._alike(value):
            return value.copy()
        trail = self._trail
        trail.append("0")
        result: list[Any] = []
        for index, item in enumerate(value):
            # Only containers and faults look at the trail.
            trail[-1] = str(index)
            result.append(self._copy(item))
        trail.pop()
        return result


def member_bytes(key: str) -> int:
    """What a member adds to the size of its object beside its value."""
    return (len(key) if key.isascii() else len(key.encode())) + 4


def measure(value: Any) -> tuple[int, int, int]:
    """(nodes, bytes, depth) of a JSON value, without recursion.

    `bytes` is about the size of its compact JSON text: strings their UTF-8 length, numbers 8, true, false and
    null 4, plus punctuation. `depth` counts containers: 0 for a scalar, 1 for a list of scalars.
    """
    nodes = size = deepest = 0
    stack: list[tuple[Iterable[Any], int]] = [((value,), 0)]
    while stack:
        items, depth = stack.pop()
        for item in items:
            nodes += 1
            kind = type(item)
            if kind is int or kind is float:
                size += 8
            elif kind is bool or item is None:
                size += 4
            elif isinstance(item, str):
                size += (len(item) if item.isascii() else len(item.encode())) + 2
            elif isinstance(item, dict):
                size += 2
                for key in item:
                    size += (len(key) if key.isascii() else len(key.encode())) + 4
                stack.append((item.values(), depth + 1))
            elif isinstance(item, list):
                size += 2 + len(item)
                stack.append((item, depth + 1))
            else:
                size += 8
        deepest = max(deepest, depth)
    return nodes, size, deepest


def equal(a: Any, b: Any) -> bool:
    """Equality by JSON type (RFC 6902 section 4.6): true is not 1, 1 is 1.0, member order does not matter."""
    stack = [(a, b)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, dict):
            if not isinstance(right, dict) or left.keys() != right.keys():
                return False
            stack.extend([(item, right[key]) for key, item in left.items()])
        elif isinstance(left, list):
            if not isinstance(right, list) or len(left) != len(right):
                return False
            stack.extend(zip(left, right, strict=True))
        elif isinstance(left, bool) or isinstance(right, bool):
            if left is not right:
                return False
        elif isinstance(right, dict | list) or left != right:
            return False
    return True
