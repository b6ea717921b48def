"""The places of one surface as a tree: made, found by component, listening to what they read, and forgotten.

How a place is compiled and what of the tree is drawn is the matter of `view`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from a2ui.binding.agent_calls import AgentCalls
from a2ui.binding.reading import Read, ReadRecorder
from a2ui.journal import Journal
from a2ui.rendering.guarding import Guard
from a2ui.rendering.index import ReadIndex
from a2ui.rendering.lists import Budget, ListSlot
from a2ui.rendering.patterns import Pattern
from a2ui.rendering.place import ANYWHERE, NO_CHILDREN, Memo, Part, Place, Placement, inlined
from a2ui.safety.ids import base36
from a2ui.state.components import Reference
from a2ui.state.store import ComponentStore


class PlaceTree:
    """All places of a surface, with the index of what they read and the room that they take."""

    __slots__ = (
        "__weakref__", "_places", "_unbuilt", "budget", "built", "calls", "dom_id", "guards", "index", "journal",
        "made", "repaints", "stirred", "store", "turned",
    )  # fmt: skip

    def __init__(
        self,
        dom_id: str,
        store: ComponentStore,
        instances: int,
        journal: Journal,
        calls: AgentCalls | None = None,
    ) -> None:
        self.journal = journal
        self.calls = calls
        """The calls of agents' functions; None where there can be none."""
        self.dom_id = dom_id
        self.store = store
        self.index = ReadIndex(journal)
        self._places: dict[str, Place | dict[Place, None]] = {}
        """By component; several only where a component is used at several places."""
        self.budget = Budget(instances, journal)
        self.repaints = 0
        self.made = 0
        """Places that exist; `built` of them are compiled."""
        self.built = 0
        self._unbuilt: list[Place] = []
        self.stirred = False
        """Whether data has changed since the last repaint, as far as there are guards: of what is inside of a notice
        nobody knows what reads it."""
        self.guards: dict[Place, Guard] = {}
        """Those of components that are not ours."""
        self.turned = 0
        """How often a notice came in place of one of these, or went: each time there is other room for the rest."""

    # ------------------------------------------------------------------ places

    def make_child(self, parent: Place, reference: Reference, placement: Placement) -> Place:
        """The place of a referenced component: the one that is there already, or a new one."""
        if parent.placement.inline:
            placement = inlined(placement)
        children = parent.children
        if children is NO_CHILDREN:
            children = parent.children = {}
        else:
            known = children.get(reference)
            if known is not None:
                if (
                    known.placement == placement
                    and known.own == self._own(reference)
                    and known.inherited == parent.hearing
                ):
                    return known
                self.dispose(known)
        if self.journal.on:
            self.journal.item(children, reference)
        place = self._new_place(
            reference.child, parent, self._own(reference), placement, parent.levels, parent.scope, parent.tail
        )
        self._unbuilt.append(place)
        children[reference] = place
        return place

    def take_unbuilt(self) -> int:
        """How many places were made and are not to be built."""
        unbuilt, self._unbuilt = self._unbuilt, []
        return len(unbuilt)

    def make_piece(self, parent: Place, token: str, placement: Placement = ANYWHERE) -> Place:
        """A place for a piece of a component that has fragments, a list or a value of its own: the rows of a table, the
        field of a form. Its DOM id is that of the component with `-<token>`; the component itself compiles it."""
        reference = Reference(parent.component_id, parent.component_id, f"-{token}", 0)
        children = parent.children
        if children is NO_CHILDREN:
            children = parent.children = {}
        elif reference in children:
            self.dispose(children[reference])
        if self.journal.on:
            self.journal.item(children, reference)
        place = self._new_place(
            parent.component_id, parent, f"-{token}", placement, parent.levels, parent.scope, parent.tail
        )
        children[reference] = place
        return self._count_piece(place)

    def _make_item_piece(self, slot: ListSlot) -> Place:
        """The same for the items of a list: one for all of them."""
        parent = slot.place
        levels, scope = (*parent.levels, slot), (*slot.path, slot)
        return self._count_piece(
            self._new_place(parent.component_id, parent, "", slot.placement, levels, scope, "")
        )

    def _count_piece(self, place: Place) -> Place:
        place.inner = True
        self.made -= 1
        self.budget.used += 1
        return place

    def _new_place(
        self,
        component_id: str,
        parent: Place | None,
        own: str,
        placement: Placement,
        levels: tuple[ListSlot, ...],
        scope: Pattern,
        tail: str,
    ) -> Place:
        place = Place(
            component_id,
            parent,
            placement,
            f"{self.dom_id}-{base36(self.store.numbers[component_id])}",
            own,
            levels,
            scope,
            tail + own,
            self.repaints,
        )
        self.made += 1
        if self.journal.on:
            self.journal.item(self._places, component_id)
        known = self._places.setdefault(component_id, place)
        if known is not place:
            several = known if isinstance(known, dict) else {known: None}
            if self.journal.on:
                self.journal.item(several, place)
            several[place] = None
            self._places[component_id] = several
        return place

    def _own(self, reference: Reference) -> str:
        """The token of a place, "" for the first of its component."""
        if not self.store.shared:
            return ""
        ordinal = self.store.ordinal(reference)
        return f"-e{ordinal}_{base36(self.store.numbers[reference.child])}" if ordinal else ""

    def places(self, component_id: str) -> Collection[Place]:
        """The places of a component, oldest first. Not to be held on to while the tree changes."""
        known = self._places.get(component_id, ())
        return (known,) if isinstance(known, Place) else known

    def fall_apart(self) -> None:
        """Nobody uses the tree any more. What refers to each other would be left to the garbage collector."""
        for known in self._places.values():
            for place in (known,) if isinstance(known, Place) else known:
                place.let_go()
        self._places, self.index, self.guards = {}, ReadIndex(self.journal), {}

    # ------------------------------------------------------------------ reading

    def register(self, part: Part, recorder: ReadRecorder) -> None:
        """Makes changes of what the recorder has read repaint the part, also of what it will read."""
        place, index = part.place, self.index
        place.parts = (*place.parts, part)
        for tokens, absolute in recorder.reads:
            pattern = tokens if absolute else (*place.scope, *tokens)
            part.patterns.append(pattern)
            index.add(pattern, part)
        if recorder.counts:
            self._count(part)
        if recorder.grows:
            recorder.on_read = partial(self._listen, part, recorder)
        if self.calls is not None:
            self.calls.register(part, recorder)

    def _count(self, part: Part) -> None:
        """Changes of an item's position repaint the part."""
        if part.place.levels:
            counting = part.place.levels[-1].counting
            if self.journal.on:
                self.journal.item(counting, part)
            counting[part] = None

    def _listen(self, part: Part, recorder: ReadRecorder, read: Read | None) -> None:
        if read is None:
            if self.journal.on:
                self.journal.attribute(recorder, "counts")
            self._count(part)
            return
        tokens, absolute = read
        pattern = tokens if absolute else (*part.place.scope, *tokens)
        if self.journal.on:
            self.journal.call(recorder.reads.pop, read)
            self.journal.elements(part.patterns)
        part.patterns.append(pattern)
        self.index.add(pattern, part)

    def dispose(self, place: Place) -> None:
        """Forgets a place and everything below it."""
        self.clear(place)
        if not place.inner:
            self.made -= 1
        for child in place.children.values():
            self.dispose(child)
        place.children = NO_CHILDREN
        known = self._places.get(place.component_id)
        if isinstance(known, dict):
            if self.journal.on:
                self.journal.entries(known)
            known.pop(place, None)
        elif known is place:
            if self.journal.on:
                self.journal.item(self._places, place.component_id)
            del self._places[place.component_id]

    def clear(self, place: Place) -> None:
        """Forgets how the place was compiled: what it reads and its template. Its children stay."""
        journal = self.journal
        if journal.on:
            journal.state(place)
        self.budget.used -= 1 + place.weight
        if not place.inner:
            self.built -= 1
        place.weight = 0
        self._forget_parts(place)
        if self.guards:
            self._forget_guard(place)
        slot = place.slot
        if slot is not None:
            place.slot = None
            for context in list(slot.states):
                slot.forget(context, self.budget)
            if slot.item is not None:
                self.dispose(slot.item)
            if place.levels:
                if journal.on:
                    journal.elements(place.levels[-1].inner)
                place.levels[-1].inner.remove(slot)
            self.index.discard(slot.path, slot)
        place.enclosure = None
        place.hearing = place.inherited
        place.morphs = False
        place.size = 1

    def _forget_parts(self, place: Place) -> None:
        """Forgets what the parts of a place read, showed and counted."""
        journal = self.journal
        for part in place.parts:
            for pattern in part.patterns:
                self.index.discard(pattern, part)
            if self.calls is not None:
                self.calls.forget(part)
            if not place.levels:
                continue
            around = place.levels[-1]
            if isinstance(part, Memo) and part in around.memos:
                if journal.on:
                    journal.elements(around.memos)
                around.memos.remove(part)
            if part in around.counting:
                if journal.on:
                    journal.entries(around.counting)
                del around.counting[part]
        place.parts = ()

    def _forget_guard(self, place: Place) -> None:
        """Forgets which instances of a place show a notice."""
        journal, guard = self.journal, self.guards.get(place)
        if guard is None:
            return
        if journal.on:
            journal.entries(self.guards)
        del self.guards[place]
        if place.levels:
            memos = place.levels[-1].memos
            if journal.on:
                journal.elements(memos)
            memos.remove(guard)


def mark_morphs(place: Place, journal: Journal) -> None:
    """Notes that something that must stay the same element is inside the place."""
    at: Place | None = place
    while at is not None and not at.morphs:
        if journal.on:
            # This alone: while it is measured, a place renders in another way (`Measure.wrap`).
            journal.attribute(at, "morphs")
        at.morphs = True
        at = at.parent


def resize(place: Place, before: int, budget: Budget) -> None:
    """Counts the instances of a place again; those around it up to the next template change by as much, and so does
    each item of that. `before` is what it counted there until now."""
    if budget.journal.on:
        budget.journal.state(place)
    place.size = 1 + place.weight + sum([child.size for child in place.children.values()])
    grown = place.size - before
    at, parent = place, place.parent
    # Not by counting every one again: a message may redefine thousands of children of one parent.
    while parent is not None and len(parent.levels) == len(at.levels):
        if budget.journal.on:
            budget.journal.state(parent)
        parent.size += grown
        at, parent = parent, parent.parent
    if grown and at.levels:
        for state in at.levels[-1].states.values():
            budget.charge(state, at.size)
