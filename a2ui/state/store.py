"""The component store of one surface: definitions, numbers for DOM ids, the reference graph (rulebook section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
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
    ordinal (D40); both only while rows are applied, so that every replay gives the same DOM ids. `root` has
    number 0, it is there before any row.
    """

    __slots__ = ("_catalog", "_first", "_free", "_further", "_limits", "by_id", "names", "numbers", "plain")

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
        self._free: dict[str, list[int]] = {}
        """Heaps of the ordinals below the highest that are free again."""

    @property
    def shared(self) -> bool:
        """Whether a component is used at several places."""
        return any(self._further.values())

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
        first, further = self._first, self._further
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
            for child in component.children:
                if child in first or child in further:
                    self._place_all(component)
                    break
                first[child] = component
                if child not in numbers:
                    numbers[child] = len(names)
                    names.append(child)
            if old is not None and old.children:
                self._displace(old, component)

    def _place_all(self, component: Component) -> None:
        """The places in a component where one of the children is used elsewhere too."""
        for reference in component.references:
            child = reference[0]
            if child not in self.numbers:
                self.numbers[child] = len(self.names)
                self.names.append(child)
            if child in self._first or child in self._further:
                self._place(reference)
            else:
                self._first[child] = reference

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
        """Gives a place the lowest free ordinal, not the count: ordinals in use stay when others go."""
        child = reference.child
        further = self._further.get(child)
        if further is not None and reference in further:
            return
        first = self._first_of(child)
        if first is None:
            self._first[child] = reference
        if first is None or first == reference:
            return
        further = self._further.setdefault(child, {})
        free = self._free.get(child)
        further[reference] = heappop(free) if free else len(further) + 1

    def _displace(self, old: Component, new: Component) -> None:
        """Gives up the ordinals of the places that a definition does not use any more."""
        kept = set(new.references)
        for reference in old.references:
            if reference in kept:
                continue
            if self._first_of(reference.child) == reference:
                del self._first[reference.child]
            else:
                ordinal = self._further.get(reference.child, {}).pop(reference, None)
                if ordinal is not None:
                    heappush(self._free.setdefault(reference.child, []), ordinal)

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
        for child, places in self._further.items():
            taken = set(places.values())
            if free := [ordinal for ordinal in range(1, max(taken)) if ordinal not in taken]:
                self._free[child] = free  # in order, which makes it a heap
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
