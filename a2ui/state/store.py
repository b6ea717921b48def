"""The component store of one surface: definitions, numbers for DOM ids, the reference graph (rulebook section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from a2ui.catalog.kinds import Where
from a2ui.catalog.registry import Catalog
from a2ui.errors import Diagnostic
from a2ui.safety.limits import Limits
from a2ui.state.components import ROOT, Component, Reference
from a2ui.state.rows import accept, refused


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

    __slots__ = ("_catalog", "_first", "_further", "_limits", "_next", "by_id", "names", "numbers", "plain")

    def __init__(self, catalog: Catalog, limits: Limits) -> None:
        self._catalog = catalog
        self._limits = limits
        self.by_id: dict[str, Component] = {}
        self.plain = True
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

    def update(self, rows: list[Any], surface_id: str, *, strict: bool) -> tuple[list[str], list[Diagnostic]]:
        """Applies the rows of one message, all or none: (ids that changed, problems).

        A refused problem means that nothing changed. Rulebook 4, 5.1; cycles are refused as a whole.
        """
        where = Where(self._limits, surface_id, [])
        accepted = accept(rows, self.by_id, self._catalog.components, where)
        if strict and where.problems:
            where.problems = [refused(problem) for problem in where.problems]
        if any(problem.refused for problem in where.problems):
            return [], where.problems
        self._commit(accepted)
        return list(accepted), where.problems

    def _commit(self, accepted: Mapping[str, Component]) -> None:
        numbers, names, by_id = self.numbers, self.names, self.by_id
        first, further = self._first, self._next
        for component_id, component in accepted.items():
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
                first[child] = component
                if child not in numbers:
                    numbers[child] = len(names)
                    names.append(child)

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
        """The place with the ordinal 0."""
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
            self._next[child] = ordinal + 1
            self._further.setdefault(child, {})[reference] = ordinal
        else:
            self._first[child] = reference

    def _replace(self, old: Component, new: Component) -> None:
        """The places in a component that is defined anew: what both definitions use stays where it is."""
        before, after = old.references, new.references
        kept = set(before).intersection(after)
        left: dict[str, list[int]] = {}
        for reference in before:
            if reference not in kept:
                left.setdefault(reference[0], []).append(self._take(reference))
            elif self._first.get(reference[0]) is old:
                self._first[reference[0]] = reference
        for reference in after:
            if reference in kept:
                continue
            child = reference[0]
            self._mention(child)
            ordinals = left.get(child)
            if not ordinals:
                self._place(reference)
            elif ordinal := ordinals.pop(0):
                self._further.setdefault(child, {})[reference] = ordinal
            else:
                self._first[child] = reference

    def _take(self, reference: Reference) -> int:
        """The ordinal of a place that its parent does not use any more."""
        child = reference[0]
        if self._first_of(child) == reference:
            del self._first[child]
            self._next.setdefault(child, 1)
            return 0
        further = self._further[child]
        ordinal = further.pop(reference)
        if not further:
            del self._further[child]
        return ordinal

    def ordinal(self, reference: Reference) -> int:
        """The ordinal of a place: 0 for the first one of the component."""
        first = self._first_of(reference[0])
        return 0 if first is reference or first == reference else self._further[reference[0]][reference]

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> dict[str, Any]:
        """Definitions, numbers and ordinals as JSON; `restore` rebuilds the same store."""
        return {
            "components": [[c.id, c.type_name, c.raw] for c in self.by_id.values()],
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
        where = Where(self._limits, "", [])
        self.names = [str(name) for name in data["names"]]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        for child, parent, slot, nth, ordinal in data["edges"]:
            self._further.setdefault(child, {})[Reference(child, parent, slot, nth)] = ordinal
        known = data.get("next", {})
        self._next = {
            **{child: 1 + max(places.values()) for child, places in self._further.items()},
            **{str(child): int(ordinal) for child, ordinal in known.items()},
        }
        for component_id, type_name, raw in data["components"]:
            kind = self._catalog.components.get(type_name)
            component = Component(component_id, type_name, kind, raw, kind.accept(raw, where) if kind else {})
            component.number = self.numbers[component_id]
            if kind is None or component.templated or not kind.draws:
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
