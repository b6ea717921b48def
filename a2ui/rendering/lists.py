"""The lists of a surface: where a template stands, the lists that it makes, and the room that they take (D28)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from a2ui.journal import Journal
from a2ui.rendering.list_state import ListState

if TYPE_CHECKING:
    from a2ui.catalog.kinds import Template
    from a2ui.rendering.patterns import Pattern
    from a2ui.rendering.place import Part, Place, Placement


class Budget:
    """Instances in use of those that a surface may have, and what its lists offer to show of the rest."""

    __slots__ = ("_offers", "allowed", "journal", "used")

    def __init__(self, allowed: int, journal: Journal) -> None:
        self.journal = journal
        self.allowed = allowed
        self.used = 0
        self._offers: dict[ListState, int] = {}
        """The lists that offer more, with the size of an item."""

    @property
    def free(self) -> int:
        return max(0, self.allowed - self.used)

    @property
    def exceeded(self) -> bool:
        """Whether there is no room for all that is shown, or for all that one of the lists offers."""
        if not self._offers:
            return self.used > self.allowed
        free = self.free
        return self.used > self.allowed or any(
            state.more * size > free for state, size in self._offers.items()
        )

    def charge(self, state: ListState, size: int) -> None:
        """Counts what a list shows, in items of that size, in place of what it counted for before."""
        if self.journal.on:
            self.journal.state(state)
            self.journal.item(self._offers, state)
        charged = state.visible * size
        self.used += charged - state.charged
        state.charged = charged
        if state.more:
            self._offers[state] = size
        else:
            self._offers.pop(state, None)

    def release(self, state: ListState) -> None:
        """Counts a list no more."""
        self.used -= state.charged
        if self.journal.on:
            self.journal.item(self._offers, state)
        self._offers.pop(state, None)

    def limit_offers(self) -> bool:
        """Takes back what there is no room for; whether it was anything. Which list was drawn first is no matter."""
        before = sum([state.more for state in self._offers])
        for state, size in self._offers.items():
            if self.journal.on:
                self.journal.state(state)
            state.more = min(state.more, self.free // size)
        return sum([state.more for state in self._offers]) < before


class Remembers(Protocol):
    """What knows something of instances of a place, by their contexts."""

    place: Place
    shown: dict[str, str]


class ListSlot:
    """The place of a template: makes one instance of `item` for each element of a list."""

    __slots__ = (
        "at", "counting", "fill", "inner", "item", "memos", "path", "place", "placement", "reader", "states",
        "template", "watched",
    )  # fmt: skip

    def __init__(
        self,
        place: Place,
        template: Template,
        path: Pattern,
        reader: Any,
        placement: Placement,
        fill: Callable[[Place], None] | None = None,
    ) -> None:
        self.fill = fill
        """What compiles the items where they are pieces of the component that has the list, and no component."""
        self.placement = placement
        """What the items may know about where they stand."""
        self.place = place
        self.template = template
        self.path = path
        """The pattern of the list, see `rendering.patterns`."""
        self.reader = reader
        """Scope value of the container -> what is at the path."""
        self.states: dict[str, ListState] = {}
        """By the context of the container."""
        self.item: Place | None = None
        self.inner: list[ListSlot] = []
        """Templates directly inside the items."""
        self.memos: list[Remembers] = []
        """What remembers of the items what they showed."""
        self.at = 0
        """The position of the item that is drawn or evaluated; kept as long as somebody has `watched` it."""
        self.watched = False
        self.counting: dict[Part, None] = {}
        """Parts of the items that show where in the list they are."""

    def items(self, scope: Any) -> list[Any]:
        """The list now; anything that is none counts as empty (7.5)."""
        found = self.reader(scope)
        return found if type(found) is list else []

    def forget(self, context: str, budget: Budget) -> None:
        """Drops what is known about the list of a container that is gone, and about everything inside it."""
        state = self.states.get(context)
        if state is None:
            return
        if budget.journal.on:
            budget.journal.item(self.states, context)
        del self.states[context]
        budget.release(state)
        for key in state.keys:
            self.forget_item(f"{context}-{key}", budget)

    def forget_item(self, context: str, budget: Budget) -> None:
        for slot in self.inner:
            slot.forget(context + slot.place.tail, budget)
        for part in self.memos:
            if budget.journal.on:
                budget.journal.item(part.shown, context + part.place.tail)
            part.shown.pop(context + part.place.tail, None)
