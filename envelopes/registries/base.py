"""A registry: names to definitions, each name once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from envelopes.errors import RegistrationError


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)

LONGEST_NAME = 64
_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_.-]{{0,{LONGEST_NAME - 1}}}")


def check_name(kind: str, name: object, pattern: re.Pattern[str] = _NAME) -> None:
    """Raises ``RegistrationError`` for a name that people, models or the database could take for another one: names
    are up to 64 ASCII letters, digits and what ``pattern`` allows beside them."""
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise RegistrationError(
            f"{name!r} is not a name for a {kind}: it has to match {pattern.pattern}.", name=str(name)
        )


class Registry(Generic[T]):
    """Definitions by name, in the order of registration.

    ``register`` refuses what is no name, and a name that is taken, in other letter case too (``RegistrationError``):
    two packages that mean different things by one name must hear of it at start-up, not in a conversation.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, T] = {}

    def register(self, item: T) -> T:
        check_name(self.kind, item.name)
        if item.name.casefold() in {name.casefold() for name in self._items}:
            raise RegistrationError(f"The {self.kind} {item.name!r} is registered already.", name=item.name)
        self._items[item.name] = item
        return item

    @contextmanager
    def including(self, item: T) -> Iterator[T]:
        """Register ``item`` for the block only, in place of one of the same name if there is one: for tests."""
        before = self._items.get(item.name)
        self._items[item.name] = item
        try:
            yield item
        finally:
            if before is None:
                del self._items[item.name]
            else:
                self._items[item.name] = before

    def get(self, name: object) -> T | None:
        return self._items.get(name) if isinstance(name, str) else None

    def __getitem__(self, name: str) -> T:
        item = self._items.get(name)
        if item is None:
            known = ", ".join(sorted(self._items)) or "none"
            raise RegistrationError(f"No {self.kind} is called {name!r}. Known: {known}.", name=name)
        return item

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items.values())

    def names(self) -> tuple[str, ...]:
        return tuple(self._items)
