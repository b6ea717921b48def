"""The component store of one surface (rulebook section 4): definitions, numbers for DOM ids, the reference graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from typing import Any, NamedTuple

from a2ui.catalog.kinds import Template, Where
from a2ui.catalog.registry import Catalog, ComponentType
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, Diagnostic
from a2ui.safety.limits import Limits
from a2ui.state.cycles import find_cycle

ROOT = "root"

UNKNOWN_COMPONENT_TYPE = "UNKNOWN_COMPONENT_TYPE"


class Edge(NamedTuple):
    """One place where a component is used: by which parent, in which slot, the how-manieth time there."""

    parent: str
    slot: str
    nth: int


class Reference(NamedTuple):
    """An edge as its parent sees it."""

    child: str
    edge: Edge
    template: Template | None


class Component:
    """A stored definition. `type` is None for a type that the catalog does not have."""

    __slots__ = ("id", "number", "props", "raw", "references", "type", "type_name")

    def __init__(
        self,
        component_id: str,
        type_name: str,
        kind: ComponentType | None,
        raw: dict[str, Any],
        props: dict[str, Any],
    ) -> None:
        self.id = component_id
        self.number = 0
        self.type_name = type_name
        self.type = kind
        self.raw = raw
        self.props = props
        self.references = _references(component_id, kind, props)


def _references(
    component_id: str, kind: ComponentType | None, props: dict[str, Any]
) -> tuple[Reference, ...]:
    if kind is None or not kind.slots:
        return ()
    found: list[Reference] = []
    used: dict[tuple[str, str], int] = {}
    for slot, child, template in kind.references(props):
        nth = used.get((slot, child), 0)
        used[slot, child] = nth + 1
        found.append(Reference(child, Edge(component_id, slot, nth), template))
    return tuple(found)


class ComponentStore:
    """Definitions by id.

    Every id gets a number the first time that a row defines or mentions it, every place of a component an
    ordinal (D40); both only while rows are applied, so that every replay gives the same DOM ids. `root` has
    number 0, it is there before any row.
    """

    __slots__ = ("_catalog", "_first", "_free", "_further", "_limits", "by_id", "names", "numbers")

    def __init__(self, catalog: Catalog, limits: Limits) -> None:
        self._catalog = catalog
        self._limits = limits
        self.by_id: dict[str, Component] = {}
        self.numbers: dict[str, int] = {ROOT: 0}
        self.names: list[str] = [ROOT]
        """The ids in the order of their numbers."""
        self._first: dict[str, Edge] = {}
        """The place with the ordinal 0 of each component."""
        self._further: dict[str, dict[Edge, int]] = {}
        """The ordinals of all others; few components have any."""
        self._free: dict[str, list[int]] = {}
        """Heaps of the ordinals below the highest that are free again."""

    # ------------------------------------------------------------------ applying rows

    def update(self, rows: list[Any], surface_id: str, *, strict: bool) -> tuple[list[str], list[Diagnostic]]:
        """Applies the rows of one message, all or none: (ids that changed, problems).

        A refused problem means that nothing changed. Rulebook 4, 5.1; cycles are refused as a whole.
        """
        where = Where(self._limits, surface_id, [])
        if len(rows) > self._limits.components:
            return [], [self._too_many(len(rows), surface_id)]
        entries = self._check_rows(rows, where)
        if any(problem.refused for problem in where.problems):
            return [], where.problems
        accepted = {key: self._accept(key, index, raw, where) for key, (index, raw) in entries.items()}
        self._check_graph(accepted, entries, where)
        if strict and where.problems:
            where.problems = [_refused(problem) for problem in where.problems]
        if any(problem.refused for problem in where.problems):
            return [], where.problems
        for component in accepted.values():
            self._commit(component)
        return list(accepted), where.problems

    def _check_rows(self, rows: list[Any], where: Where) -> dict[str, tuple[int, dict[str, Any]]]:
        """Rows by id, the last one of each; refusals for what is no component (C)."""
        entries: dict[str, tuple[int, dict[str, Any]]] = {}
        where.key = ""
        for index, row in enumerate(rows):
            where.index = index
            if type(row) is not dict:
                where.problems.append(
                    _refusal("A component is a JSON object.", f"/components/{index}", where)
                )
                continue
            component_id = row.get("id")
            if type(component_id) is not str or not component_id:
                message = "A component needs an id: a text that is not empty."
                where.problems.append(_refusal(message, f"/components/{index}/id", where))
                continue
            if component_id in entries:
                where.add("The message has this id twice; the last one counts.", sub="/id")
            entries[component_id] = (index, row)
        self._check_types(entries, where)
        return entries

    def _check_types(self, entries: Mapping[str, tuple[int, dict[str, Any]]], where: Where) -> None:
        for component_id, (index, row) in entries.items():
            type_name = row.get("component")
            if type_name is None and component_id not in self.by_id:
                message = f"Cannot create component {component_id[:40]!r} without a type."
                where.problems.append(_refusal(message, f"/components/{index}/component", where))
            elif type_name is not None and (type(type_name) is not str or not type_name):
                message = "The component is the name of a type."
                where.problems.append(_refusal(message, f"/components/{index}/component", where))
        total = len(self.by_id) + sum(1 for component_id in entries if component_id not in self.by_id)
        if total > self._limits.components:
            where.problems.append(self._too_many(total, where.surface_id))
        listed = sum([len(v) for _, row in entries.values() for v in row.values() if type(v) is list])
        allowed = self._limits.entries
        if listed > allowed:
            facts = {"limit": "entries", "allowed": allowed, "got": listed}
            message = (
                f"The lists of all components of a message hold at most {allowed} entries. Use templates."
            )
            where.problems.append(
                Diagnostic(BUDGET_EXCEEDED, message, "/components", where.surface_id, True, facts)
            )

    def _too_many(self, total: int, surface_id: str) -> Diagnostic:
        allowed = self._limits.components
        facts = {"limit": "components", "allowed": allowed, "got": total}
        message = f"A surface has at most {allowed} components."
        return Diagnostic(BUDGET_EXCEEDED, message, "/components", surface_id, refused=True, facts=facts)

    def _accept(self, component_id: str, index: int, raw: dict[str, Any], where: Where) -> Component:
        known = self.by_id.get(component_id)
        type_name = raw.get("component") or (known.type_name if known else "")
        kind = self._catalog.components.get(type_name)
        where.index = index
        if kind is None:
            where.key = "component"
            # Once per id, however often it is sent again with the same type (5.1).
            if known is None or known.type_name != type_name:
                where.add(
                    f"There is no component type {type_name[:40]!r}.",
                    UNKNOWN_COMPONENT_TYPE,
                    component=component_id,
                )
            return Component(component_id, type_name, None, raw, {})
        return Component(component_id, type_name, kind, raw, kind.accept(raw, where))

    def _check_graph(
        self,
        accepted: Mapping[str, Component],
        entries: Mapping[str, tuple[int, dict[str, Any]]],
        where: Where,
    ) -> None:
        def references(component_id: str) -> tuple[Reference, ...]:
            component = accepted.get(component_id) or self.by_id.get(component_id)
            return component.references if component else ()

        cycle = find_cycle([key for key, component in accepted.items() if component.references], references)
        if not cycle:
            return
        message = "Components contain themselves: " + " > ".join([name[:40] for name in cycle[:8]]) + "."
        closing = next((name for name in cycle if name in entries), None)
        path = f"/components/{entries[closing][0]}" if closing is not None else "/components"
        where.problems.append(_refusal(message, path, where, cycle=cycle[:50]))

    def _commit(self, component: Component) -> None:
        old = self.by_id.get(component.id)
        component.number = self._number(component.id)
        self.by_id[component.id] = component
        for reference in component.references:
            self._number(reference.child)
            self._place(reference.child, reference.edge)
        if old is not None and old.references:
            kept = {(reference.child, reference.edge) for reference in component.references}
            for reference in old.references:
                if (reference.child, reference.edge) not in kept:
                    self._displace(reference.child, reference.edge)

    def _place(self, child: str, edge: Edge) -> None:
        """Gives a place the lowest free ordinal, not the count: ordinals in use stay when others go."""
        further = self._further.get(child)
        if (further is not None and edge in further) or self._first.setdefault(child, edge) == edge:
            return
        further = self._further.setdefault(child, {})
        free = self._free.get(child)
        further[edge] = heappop(free) if free else len(further) + 1

    def _displace(self, child: str, edge: Edge) -> None:
        if self._first.get(child) == edge:
            del self._first[child]
        else:
            ordinal = self._further.get(child, {}).pop(edge, None)
            if ordinal is not None:
                heappush(self._free.setdefault(child, []), ordinal)

    def _number(self, component_id: str) -> int:
        number = self.numbers.get(component_id)
        if number is None:
            number = self.numbers[component_id] = len(self.names)
            self.names.append(component_id)
        return number

    def ordinal(self, child: str, edge: Edge) -> int:
        """The ordinal of a place: 0 for the first one of the component."""
        return 0 if self._first.get(child) == edge else self._further[child][edge]

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> dict[str, Any]:
        """Definitions, numbers and ordinals as JSON; `restore` rebuilds the same store."""
        return {
            "components": [[c.id, c.type_name, c.raw] for c in self.by_id.values()],
            "names": self.names,
            "edges": [
                [child, *edge, ordinal]
                for child, edges in self._further.items()
                for edge, ordinal in edges.items()
            ],
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Fills an empty store from `snapshot()`. Problems of the definitions were reported long ago."""
        where = Where(self._limits, "", [])
        self.names = [str(name) for name in data["names"]]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        for child, parent, slot, nth, ordinal in data["edges"]:
            self._further.setdefault(child, {})[Edge(parent, slot, nth)] = ordinal
        for child, edges in self._further.items():
            taken = set(edges.values())
            if free := [ordinal for ordinal in range(1, max(taken)) if ordinal not in taken]:
                self._free[child] = free  # in order, which makes it a heap
        for component_id, type_name, raw in data["components"]:
            kind = self._catalog.components.get(type_name)
            component = Component(component_id, type_name, kind, raw, kind.accept(raw, where) if kind else {})
            component.number = self.numbers[component_id]
            self.by_id[component_id] = component
            for reference in component.references:
                if reference.edge not in self._further.get(reference.child, ()):
                    self._first[reference.child] = reference.edge

    def __iter__(self) -> Iterator[Component]:
        return iter(self.by_id.values())


def _refusal(message: str, path: str, where: Where, **facts: Any) -> Diagnostic:
    return Diagnostic(VALIDATION_FAILED, message, path, where.surface_id, refused=True, facts=facts)


def _refused(problem: Diagnostic) -> Diagnostic:
    return Diagnostic(problem.code, problem.message, problem.path, problem.surface_id, True, problem.facts)
