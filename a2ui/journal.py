"""What undoes an attempt: whatever changes inside of a set of surfaces is noted here first, while one is open.

Everything that lives has the journal of its set and looks at `on` before it changes. A place that is changed and notes
nothing survives the undo: who adds one to the engine adds its note (tests/a2ui/test_attempt.py looks for them).
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any, Protocol, TypeAlias

Step: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments."""


_ENDED = "The attempt has ended already."


class Saved(Protocol):
    """Something that can be set back as a whole."""

    def saved(self) -> tuple[Any, ...]:
        """What it is now; no later change of the object may reach into it."""

    def load(self, saved: Any) -> None:
        """Makes it what it was when `saved` was called."""


class Journal:
    """The notes of one set, newest last. Marks may be inside of each other: a message that is refused halfway is undone
    inside of an attempt."""

    __slots__ = ("_begun", "_marks", "_noted", "_steps", "mark", "on")

    def __init__(self) -> None:
        self.on = False
        """Whether changes have to be noted."""
        self._steps: list[Step] = []
        self._noted: dict[int, Any] = {}
        """What was saved as a whole since the last mark, by id; kept alive, so that the ids stay theirs."""
        self._marks: list[tuple[int, int, dict[int, Any]]] = []
        self._begun = 0
        self.mark = 0
        """Which mark the last one is that is neither kept nor undone."""

    # ------------------------------------------------------------------ marks

    def begin(self) -> None:
        """From here on changes can be undone."""
        self._marks.append((len(self._steps), self.mark, self._noted))
        self._noted = {}
        self._begun = self.mark = self._begun + 1
        self.on = True

    def keep(self) -> None:
        """What was done since the last mark stays, or goes with what is around it."""
        _, self.mark, self._noted = self._marks.pop()
        if not self._marks:
            self._steps = []
            self.on = False

    def undo(self) -> None:
        """Undoes what was done since the last mark."""
        at, self.mark, self._noted = self._marks.pop()
        steps = self._steps
        self.on = False
        while len(steps) > at:
            function, arguments = steps.pop()
            function(*arguments)
        self.on = bool(self._marks)

    # ------------------------------------------------------------------ notes

    def first(self, target: object) -> bool:
        """Whether this is the first time since the last mark that somebody asks for this object."""
        key = id(target)
        if key in self._noted:
            return False
        self._noted[key] = target
        return True

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """What will undo the change that comes now."""
        self._steps.append((function, arguments))

    def state(self, target: Saved) -> None:
        """The object is about to change."""
        if self.first(target):
            self._steps.append((target.load, (target.saved(),)))

    def attribute(self, target: object, name: str) -> None:
        """The attribute is about to be set."""
        self._steps.append((setattr, (target, name, getattr(target, name))))

    def item(self, table: MutableMapping[Any, Any], key: Any) -> None:
        """The entry is about to be set. Also one that goes, where nobody minds in which order entries are: if it comes
        back, it is the last one."""
        if key in table:
            self._steps.append((table.__setitem__, (key, table[key])))
        else:
            self._steps.append((table.pop, (key, None)))

    def entries(self, table: dict[Any, Any]) -> None:
        """Entries are about to go, and the order matters."""
        if self.first(table):
            self._steps.append((_refill, (table, table.copy())))

    def elements(self, listed: list[Any]) -> None:
        """Elements are about to come or go."""
        if self.first(listed):
            self._steps.append((listed.__setitem__, (slice(None), listed.copy())))


def _refill(table: dict[Any, Any], entries: dict[Any, Any]) -> None:
    table.clear()
    table.update(entries)


class Attempt:
    """What was done to a set of surfaces since `SurfaceSet.attempt`, until it is kept or undone.

    An error that comes out of the engine in between leaves the attempt open; undoing it is safe then too.
    """

    __slots__ = ("_journal",)

    def __init__(self, journal: Journal) -> None:
        """Use `SurfaceSet.attempt()`."""
        self._journal: Journal | None = journal

    def keep(self) -> None:
        """What was done stays; how to undo it is forgotten. Raises RuntimeError where it has ended already."""
        if self._journal is None:
            raise RuntimeError(_ENDED)
        self._journal.keep()
        self._journal = None

    def undo(self) -> None:
        """As if nothing had happened: surfaces, data, definitions, DOM ids, what pages have, diagnostics. Raises
        RuntimeError where it has ended already."""
        if self._journal is None:
            raise RuntimeError(_ENDED)
        self._journal.undo()
        self._journal = None
