"""A registry: names to definitions, each name once."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from envelopes.errors import RegistrationError


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)

LONGEST_NAME = 64
NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_.-]{{0,{LONGEST_NAME - 1}}}")


def check_name(kind: str, name: object, pattern: re.Pattern[str] = NAME) -> None:
    """Raises ``RegistrationError`` for a name that people, models or the database could take for another one: names
    are up to 64 ASCII letters, digits and what ``pattern`` allows beside them."""
    if not isinstance(name, str) or not pattern.fullmatch(name):
        article = "an" if kind[:1] in "aeiou" else "a"
        raise RegistrationError(
            f"{name!r} is not a name for {article} {kind}: it has to match {pattern.pattern}.", name=str(name)
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was registered: the module, and the line of the call."""

    module: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}, line {self.line}"


class Registry(Generic[T]):
    """Definitions by name, in the order of registration.

    ``register`` refuses what is no name, a name that is taken, in other letter case too, and whatever comes once the
    applications have been loaded (``RegistrationError``, with both places): two packages that mean different things by
    one name must hear of it at start-up, not in a conversation.
    """

    _NAME: ClassVar[re.Pattern[str]] = NAME

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, T] = {}
        self._places: dict[str, Place] = {}
        self._is_closed = False
        self.version = 0
        """Another number whenever something else is registered: for what is made of all of it once."""

    def register(self, item: T) -> T:
        check_name(self.kind, item.name, self._NAME)
        place = _caller()
        if self._is_closed:
            raise RegistrationError(
                f"The {self.kind} {item.name!r} comes too late ({place}): whatever an application registers belongs "
                "into its module beach.py, which is imported at start-up if INSTALLED_APPS has the application.",
                name=item.name,
            )
        taken = self.alike(item.name)
        if taken is not None:
            raise RegistrationError(
                f"The {self.kind} {item.name!r} ({place}) is registered already ({self._places[taken]}).",
                name=item.name,
            )
        self._items[item.name] = item
        self._places[item.name] = place
        self.version += 1
        return item

    def alike(self, name: str) -> str | None:
        """The name that is taken by ``name``, in whatever letter case; None where it is free."""
        return next((known for known in self._items if known.casefold() == name.casefold()), None)

    def close(self) -> None:
        """From here on nothing is registered: what processes tell each other by name has to mean the same in all."""
        self._is_closed = True

    def place(self, name: str) -> Place:
        """Where ``name`` was registered; raises ``KeyError`` where it was not."""
        return self._places[name]

    @contextmanager
    def including(self, item: T) -> Iterator[T]:
        """Register ``item`` for the block only, in place of one of the same name if there is one: for tests."""
        known, place = self._items.get(item.name), self._places.get(item.name)
        self._items[item.name], self._places[item.name] = item, _caller()
        self.version += 1
        try:
            yield item
        finally:
            self.version += 1
            if known is not None and place is not None:
                # Without a deletion: it keeps its place in the order, by which the first one is the default.
                self._items[item.name], self._places[item.name] = known, place
            else:
                del self._items[item.name], self._places[item.name]

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


def _caller() -> Place:
    """Of whoever called a registry: the first that is neither a method of one nor the machinery around it."""
    return next(
        Place(module, line)
        for frame, line in traceback.walk_stack(None)
        if (module := str(frame.f_globals.get("__name__"))) not in (__name__, "contextlib")
        and not frame.f_code.co_name.startswith("register")
    )
