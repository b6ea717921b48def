"""The component store of one surface: definitions, numbers for DOM ids, the reference graph (rulebook section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.registry import Vocabulary
from a2ui.errors import Diagnostic
from a2ui.journal import Journal
from a2ui.protocol.dialects import NOTATIONS, PLAIN, Notation
from a2ui.safety.limits import Limits
from a2ui.state.components import ROOT, Component, Reference
from a2ui.state.composition import breaches
from a2ui.state.rows import accept, catalog_id_of, kind_of, made, refused


class ComponentStore:
    """Definitions by id.

    Every id gets a number the first time that a row defines or mentions it, every place of a component an
    ordinal (D40); both only while rows are applied, so that every replay gives the same DOM ids, however often pages
    were brought up to date in between. `root` has number 0, it is there before any row.

    A place is one use of a component by one parent, whether or not the parent is shown: it keeps its ordinal as long
    as the parent uses the component, also in another slot. What a parent takes back, or another parent takes over, is
    a new place. No ordinal is given twice: an element that comes never has the id of one that goes, in whichever
    order a page hears of the two.
    """

    __slots__ = (
        "_first", "_further", "_journal", "_limits", "_next", "_words", "by_id", "default_id", "names", "numbers",
        "ours", "plain", "restricts",
    )  # fmt: skip

    def __init__(self, words: Vocabulary, limits: Limits, journal: Journal) -> None:
        self._journal = journal
        self._words = words
        self._limits = limits
        self.by_id: dict[str, Component] = {}
        self.ours = words.ours
        """Whether no component can be of an application's code."""
        self.default_id = words.default.id
        self.restricts = words.restricts
        """Whether components may stand in some places only."""
        self.plain = not self.restricts
        """Whether no component so far had a type that has to be compiled, or made children of a list."""
        self.numbers: dict[str, int] = {ROOT: 0}
        self.names: list[str] = [ROOT]
        """The ids in the order of their numbers."""
        self._first: dict[str, Reference | Component] = {}
        """The place with the ordinal 0 of each component: itself, or the component whose first such place it is."""
        self._further: dict[str, dict[Reference, int]] = {}
        """The ordinals of all others; few components have any."""
        self._next: dict[str, int] = {}
        """The ordinal of the next place of each component that has had more than the first, or has lost that."""

    @property
    def shared(self) -> bool:
        """Whether a component has another place than the first that it ever had."""
        return bool(self._further)

    # ------------------------------------------------------------------ applying rows

    def update(
        self, rows: list[Any], surface_id: str, notation: Notation, *, strict: bool
    ) -> tuple[list[str], list[Diagnostic]]:
        """Applies the rows of one message, all or none: (ids that changed, problems).

        A refused problem means that nothing changed. Rulebook 4, 5.1; cycles are refused as a whole.
        """
        where = AcceptContext(self._limits, surface_id, [], notation, self._words.signature)
        accepted = accept(rows, self.by_id, self._words, where)
        if self.restricts:
            where.problems += breaches(
                accepted, rows, lambda one: accepted.get(one) or self.by_id.get(one), surface_id
            )
        if strict and where.problems:
            where.problems = [refused(problem) for problem in where.problems]
        if any(problem.refused for problem in where.problems):
            return [], where.problems
        self._commit(accepted)
        changed = list(accepted)
        if self.restricts:
            # Whether a component may stand where it does depends on what is around it.
            changed += dict.fromkeys(
                child for one in accepted.values() for child in one.children if child not in accepted
            )
        return changed, where.problems

    def _commit(self, accepted: Mapping[str, Component]) -> None:
        numbers, names, by_id = self.numbers, self.names, self.by_id
        first, further = self._first, self._next
        journal = self._journal
        if journal.on and journal.first(self):
            journal.call(self._forget_names, len(names))
            journal.attribute(self, "plain")
        for component_id, component in accepted.items():
            if journal.on:
                journal.item(by_id, component_id)
            number = numbers.get(component_id)
            if number is None:
                number = numbers[component_id] = len(names)
                names.append(component_id)
            component.number = number
            kind = component.type
            if kind is None or component.templated or not kind.draws:
                self.plain = False
            old = by_id.get(component_id)
            by_id[component_id] = component
            if old is not None and old.children:
                self._replace(old, component)
                continue
            for child in component.children:
                if child in first or child in further:
                    self._place_all(component)
                    break
                if journal.on:
                    journal.item(first, child)
                first[child] = component
                if child not in numbers:
                    numbers[child] = len(names)
                    names.append(child)

    def _forget_names(self, known: int) -> None:
        """Undoes what gave ids a number."""
        for name in self.names[known:]:
            del self.numbers[name]
        del self.names[known:]

    def _place_all(self, component: Component) -> None:
        """The places in a component that had none, where one of the children is or was used elsewhere too."""
        for reference in component.references:
            self._mention(reference[0])
            if self._first_of(reference[0]) != reference:
                self._place(reference)

    def _mention(self, child: str) -> None:
        if child not in self.numbers:
            self.numbers[child] = len(self.names)
            self.names.append(child)

    def _first_of(self, child: str) -> Reference | None:
        """The place with the ordinal 0. What it looks up is the same in other words: nothing to undo."""
        found = self._first.get(child)
        if isinstance(found, Component):
            # For all of its children at once: looking for one at a time would take the square of their number.
            for reference in found.references:
                if self._first.get(reference[0]) is found:
                    self._first[reference[0]] = reference
            return self._first_of(child)
        return found

    def _place(self, reference: Reference) -> None:
        """Gives a new place its ordinal."""
        child = reference[0]
        if child in self._first or child in self._next:
            ordinal = self._next.get(child, 1)
            if self._journal.on:
                self._journal.item(self._next, child)
            self._next[child] = ordinal + 1
            self._put(reference, ordinal)
        else:
            self._put(reference, 0)

    def _put(self, reference: Reference, ordinal: int) -> None:
        """The place has this ordinal from now on."""
        child, journal = reference[0], self._journal
        if not ordinal:
            if journal.on:
                journal.item(self._first, child)
            self._first[child] = reference
            return
        further = self._further.get(child, {})
        if journal.on:
            journal.item(self._further, child)
            journal.item(further, reference)
        further[reference] = ordinal
        self._further[child] = further

    def _replace(self, old: Component, new: Component) -> None:
        """The places in a component that is defined anew: what both definitions use stays where it is."""
        before, after = old.references, new.references
        kept = set(before).intersection(after)
        left: dict[str, list[int]] = {}
        for reference in before:
            if reference not in kept:
                left.setdefault(reference[0], []).append(self._take(reference))
            elif self._first.get(reference[0]) is old:
                self._put(reference, 0)
        for reference in after:
            if reference in kept:
                continue
            child = reference[0]
            self._mention(child)
            ordinals = left.get(child)
            if not ordinals:
                self._place(reference)
            else:
                self._put(reference, ordinals.pop(0))

    def _take(self, reference: Reference) -> int:
        """The ordinal of a place that its parent does not use any more."""
        child, journal = reference[0], self._journal
        if self._first_of(child) == reference:
            if journal.on:
                journal.item(self._first, child)
                journal.item(self._next, child)
            del self._first[child]
            self._next.setdefault(child, 1)
            return 0
        further = self._further[child]
        if journal.on:
            # In the order in which a snapshot has them.
            journal.entries(further)
            journal.entries(self._further)
        ordinal = further.pop(reference)
        if not further:
            del self._further[child]
        return ordinal

    def catalog_id(self, component: Component) -> str:
        """The id of the catalog that the type of a component is of."""
        return catalog_id_of(component.raw, self._words)

    def ordinal(self, reference: Reference) -> int:
        """The ordinal of a place: 0 for the first one of the component."""
        first = self._first_of(reference[0])
        return 0 if first is reference or first == reference else self._further[reference[0]][reference]

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> dict[str, Any]:
        """Definitions, numbers and ordinals as JSON; `restore` rebuilds the same store."""
        return {
            "components": [_kept(component) for component in self.by_id.values()],
            "names": self.names.copy(),
            "next": self._next.copy(),
            "edges": [
                [*reference, ordinal]
                for places in self._further.values()
                for reference, ordinal in places.items()
            ],
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Fills an empty store from `snapshot()`. Problems of the definitions were reported long ago."""
        contexts = {
            name: AcceptContext(self._limits, "", [], notation, self._words.signature)
            for name, notation in NOTATIONS.items()
        }
        self.names = [str(name) for name in data["names"]]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        for child, parent, slot, nth, ordinal in data["edges"]:
            self._further.setdefault(child, {})[Reference(child, parent, slot, nth)] = ordinal
        known = data.get("next", {})
        self._next = {
            **{child: 1 + max(places.values()) for child, places in self._further.items()},
            **{str(child): int(ordinal) for child, ordinal in known.items()},
        }
        for component_id, type_name, raw, *rest in data["components"]:
            where = contexts[rest[0] if rest else PLAIN.name]
            kind = kind_of(raw, type_name, self._words, where)
            component = (
                Component(component_id, type_name, None, raw, {}, where.notation)
                if kind is None
                else made(component_id, type_name, kind, raw, self._words, where)
            )
            component.number = self.numbers[component_id]
            if component.type is None or component.templated or not component.type.draws:
                self.plain = False
            self.by_id[component_id] = component
            shared = False
            for child in component.children:
                if child in self._further:
                    shared = True
                else:
                    self._first[child] = component
            for reference in component.references if shared else ():
                further = self._further.get(reference[0])
                if further is not None and reference not in further:
                    self._first[reference[0]] = reference

    def __iter__(self) -> Iterator[Component]:
        return iter(self.by_id.values())


def _kept(component: Component) -> list[Any]:
    """A definition in a snapshot: id, type, what was sent, and how that is written where it is not as in 0.9."""
    kept = [component.id, component.type_name, component.raw]
    return kept if component.notation is PLAIN else [*kept, component.notation.name]
