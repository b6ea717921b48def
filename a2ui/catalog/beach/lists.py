"""What tables and charts are made of: a list of items, and for each item values that are looked up in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from a2ui.binding.parsing import Trail, parse
from a2ui.binding.values import Binding, FunctionCall, Value
from a2ui.catalog.accepting import AcceptContext
from a2ui.data.pointer import ABSENT
from a2ui.errors import BUDGET_EXCEEDED
from a2ui.schema.dynamic import call
from a2ui.schema.shapes import Check


def items(raw: Any, where: AcceptContext) -> Any:
    """A list as it is, or a binding or a call for one: what is in the list is data and never looked into."""
    if isinstance(raw, list):
        return raw if where.takes(raw) else ABSENT
    value = parse(raw, where)
    if isinstance(value, Binding | FunctionCall):
        return value
    return where.wrong('a list, {"path": ...} or {"call": ...}', raw)


def items_shape(value: Any, path: str, check: Check) -> None:
    """A list, a binding or a call."""
    if type(value) is list:
        return
    if type(value) is dict and type(value.get(check.notation.path)) is str and len(value) == 1:
        return
    if type(value) is dict and check.notation.call in value:
        call(value, path, check)
        return
    check.wrong(path, "a list, a binding or a call", value)


class Member:
    """One entry of a list property while it is read: what is wrong with a member is told where it stands."""

    def __init__(self, raw: Mapping[str, Any], where: AcceptContext, trail: Trail, sub: str) -> None:
        self.raw = raw
        self.where = where
        self._trail = trail
        self._sub = sub

    def below(self, key: str, at: int) -> Member:
        """An object in one of its lists."""
        trail = ((self._trail, key), at)
        return Member(self.raw[key][at], self.where, trail, f"{self._sub}/{key}/{at}")

    def value(self, key: str) -> Value:
        """Any dynamic value."""
        return parse(self.raw.get(key), self.where, trail=(self._trail, key))

    def text(self, key: str, default: Value = "") -> Value:
        """A DynamicString."""
        found = self.value(key)
        if found is None:
            return default
        if isinstance(found, dict | list):
            self.wrong(key, "text", self.raw[key])
            return default
        return found

    def word(self, key: str, default: str = "") -> str:
        """A text that is never dynamic."""
        found = self.raw.get(key, default)
        if not isinstance(found, str):
            self.wrong(key, "text", found)
            return default
        return found

    def one_of(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        found = self.raw.get(key, default)
        if not isinstance(found, str) or found not in allowed:
            self.wrong(key, "one of " + ", ".join(allowed), found, quoted=True)
            return default
        return found

    def flag(self, key: str, *, default: bool = False) -> bool:
        found = self.raw.get(key, default)
        if not isinstance(found, bool):
            self.wrong(key, "true or false", found)
            return default
        return found

    def number(self, key: str) -> float | None:
        found = self.raw.get(key)
        if found is not None and (isinstance(found, bool) or not isinstance(found, int | float)):
            self.wrong(key, "a number", found)
            return None
        return found

    def wrong(self, key: str, expected: str, got: object, *, quoted: bool = False) -> None:
        self.where.wrong(expected, got, f"{self._sub}/{key}", quoted=quoted)

    def tell(self, key: str, message: str) -> None:
        """Takes note of a problem with a member."""
        self.where.add(message, sub=f"{self._sub}/{key}")

    def only(self, known: Iterable[str]) -> None:
        """Reports the members that nobody knows."""
        for key in sorted(self.raw.keys() - set(known)):
            self.tell(key[:40], f"{self.where.key} has no member {key[:40]!r}.")


def listed(raw: Any, where: AcceptContext, what: str, make: Callable[[Member], Any]) -> Any:
    """The tuple of what `make` gives for each object of a list; None for one that it cannot use."""
    if not isinstance(raw, list):
        return where.wrong(f"a list of {what}", raw)
    if not where.takes(raw):
        return ABSENT
    allowed = where.limits.fields
    if len(raw) > allowed:
        message = f"Only the first {allowed} {what} are shown."
        where.add(message, BUDGET_EXCEEDED, limit="fields", allowed=allowed, got=len(raw))
    found = []
    for at, entry in enumerate(raw[:allowed]):
        if not isinstance(entry, dict):
            where.wrong("an object", entry, f"/{at}")
            continue
        made = make(Member(entry, where, (None, at), f"/{at}"))
        if made is not None:
            found.append(made)
    return tuple(found)
