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


class Reference(NamedTuple):
    """One place where a component is used: which one, by which parent, in which slot, the how-manieth time there.

    A plain tuple, because a surface has one for each component: it is the key of the place wherever one is needed.
    """

    child: str
    parent: str
    slot: str
    nth: int

    @property
    def template(self) -> Template | None:
        """The template that the place belongs to, if it stands for the items of a list."""
        return None


class TemplateReference(Reference):
    """The place of the items of a list. Which list it is does not make it another place."""

    _template: Template

    @property
    def template(self) -> Template:
        return self._template


class Component:
    """A stored definition. `type` is None for a type that the catalog does not have."""

    __slots__ = ("id", "number", "props", "raw", "references", "type", "type_name")

    id: str
    number: int
    references: tuple[Reference, ...]

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
        self.references = () if kind is None or not kind.slots else _references(component_id, kind, props)


_new = tuple.__new__
"""Makes a named tuple without the detour through its own `__new__`, which costs twice as much."""


def _references(component_id: str, kind: ComponentType, props: dict[str, Any]) -> tuple[Reference, ...]:
    if len(kind.slots) == 1:
        # One child, or a list of different ones, is what nearly all components have.
        slot = kind.slots[0]
        value = props.get(slot)
        children: tuple[Any, ...] = (value,) if type(value) is str else value if type(value) is tuple else ()
        if children and type(children[0]) is str and len(set(children)) == len(children):
            return tuple([_new(Reference, (child, component_id, slot, 0)) for child in children])
    found: list[Reference] = []
    used: dict[tuple[str, str], int] = {}
    for slot, child, template in kind.references(props):
        nth = used.get((slot, child), 0)
        used[slot, child] = nth + 1
        if template is None:
            found.append(Reference(child, component_id, slot, nth))
        else:
            reference = TemplateReference(child, component_id, slot, nth)
            reference._template = template
            found.append(reference)
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
        self._first: dict[str, Reference] = {}
        """The place with the ordinal 0 of each component."""
        self._further: dict[str, dict[Reference, int]] = {}
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
        entries = self._regular(rows)
        if entries is None:
            entries = self._check_rows(rows, where)
            if any(problem.refused for problem in where.problems):
                return [], where.problems
        accepted = {key: self._accept(key, index, raw, where) for key, (index, raw) in entries.items()}
        self._check_graph(accepted, entries, where)
        if strict and where.problems:
            where.problems = [_refused(problem) for problem in where.problems]
        if any(problem.refused for problem in where.problems):
            return [], where.problems
        self._commit(accepted)
        return list(accepted), where.problems

    def _regular(self, rows: list[Any]) -> dict[str, tuple[int, dict[str, Any]]] | None:
        """Rows by id if nothing whatever is wrong with them as rows; None sends them through `_check_rows`."""
        entries: dict[str, tuple[int, dict[str, Any]]] = {}
        listed = 0
        for index, row in enumerate(rows):
            if type(row) is not dict:
                return None
            for value in row.values():
                if type(value) is list:
                    listed += len(value)
            component_id, type_name = row.get("id"), row.get("component")
            if (
                type(component_id) is not str
                or type(type_name) is not str
                or not component_id
                or not type_name
            ):
                return None
            entries[component_id] = (index, row)
        if len(entries) < len(rows) or len(self.by_id) + len(entries) > self._limits.components:
            return None
        if listed > self._limits.entries:
            return None
        return entries

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

        if not self.by_id and _in_order(accepted):
            return
        cycle = find_cycle([key for key, component in accepted.items() if component.references], references)
        if not cycle:
            return
        message = "Components contain themselves: " + " > ".join([name[:40] for name in cycle[:8]]) + "."
        closing = next((name for name in cycle if name in entries), None)
        path = f"/components/{entries[closing][0]}" if closing is not None else "/components"
        where.problems.append(_refusal(message, path, where, cycle=cycle[:50]))

    def _commit(self, accepted: Mapping[str, Component]) -> None:
        numbers, names, by_id = self.numbers, self.names, self.by_id
        first, further = self._first, self._further
        for component_id, component in accepted.items():
            number = numbers.get(component_id)
            if number is None:
                number = numbers[component_id] = len(names)
                names.append(component_id)
            component.number = number
            old = by_id.get(component_id)
            by_id[component_id] = component
            for reference in component.references:
                child = reference[0]
                if child not in numbers:
                    numbers[child] = len(names)
                    names.append(child)
                if child in first or child in further:
                    self._place(reference)
                else:
                    first[child] = reference
            if old is not None and old.references:
                self._displace(old, component)

    def _place(self, reference: Reference) -> None:
        """Gives a place the lowest free ordinal, not the count: ordinals in use stay when others go."""
        child = reference.child
        further = self._further.get(child)
        if (further is not None and reference in further) or self._first.setdefault(
            child, reference
        ) == reference:
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
            if self._first.get(reference.child) == reference:
                del self._first[reference.child]
            else:
                ordinal = self._further.get(reference.child, {}).pop(reference, None)
                if ordinal is not None:
                    heappush(self._free.setdefault(reference.child, []), ordinal)

    def ordinal(self, reference: Reference) -> int:
        """The ordinal of a place: 0 for the first one of the component."""
        child = reference[0]
        return 0 if self._first.get(child) == reference else self._further[child][reference]

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> dict[str, Any]:
        """Definitions, numbers and ordinals as JSON; `restore` rebuilds the same store."""
        return {
            "components": [[c.id, c.type_name, c.raw] for c in self.by_id.values()],
            "names": self.names,
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
            self.by_id[component_id] = component
            for reference in component.references:
                if reference not in self._further.get(reference.child, ()):
                    self._first[reference.child] = reference

    def __iter__(self) -> Iterator[Component]:
        return iter(self.by_id.values())


def _in_order(accepted: Mapping[str, Component]) -> bool:
    """Whether all references go forwards in the message, or all of them backwards: then there is no cycle."""
    position = {component_id: index for index, component_id in enumerate(accepted)}
    forwards = backwards = False
    for component in accepted.values():
        if component.references:
            here = position[component.id]
            for reference in component.references:
                there = position.get(reference.child)
                if there is not None:
                    if there > here:
                        forwards = True
                    else:
                        backwards = True
                    if there == here or (forwards and backwards):
                        return False
    return True


def _refusal(message: str, path: str, where: Where, **facts: Any) -> Diagnostic:
    return Diagnostic(VALIDATION_FAILED, message, path, where.surface_id, refused=True, facts=facts)


def _refused(problem: Diagnostic) -> Diagnostic:
    return Diagnostic(problem.code, problem.message, problem.path, problem.surface_id, True, problem.facts)
