"""The rows of `updateComponents`: from JSON to component definitions, all or none (rulebook 4, 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2ui.catalog.kinds import Where
from a2ui.catalog.registry import ComponentType
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, Diagnostic, must_be
from a2ui.state.components import ROOT, Component, Reference
from a2ui.state.cycles import find_cycle

UNKNOWN_COMPONENT_TYPE = "UNKNOWN_COMPONENT_TYPE"

Known = Mapping[str, Component]
Types = Mapping[str, ComponentType]


def accept(rows: list[Any], known: Known, types: Types, where: Where) -> dict[str, Component]:
    """The definitions of one message by id; what is wrong with them goes to `where`.

    With a refused problem there, none of them may be used. `known` are the definitions that the surface has.
    """
    if len(rows) > where.limits.components:
        where.problems.append(_too_many(len(rows), where))
        return {}
    accepted, forwards = _regular(rows, known, types, where)
    if accepted is None:
        where.problems.clear()
        where.entries = 0
        entries = _check_rows(rows, known, where)
        if any(problem.refused for problem in where.problems):
            return {}
        accepted = {
            key: _accept(key, index, raw, known, types, where) for key, (index, raw) in entries.items()
        }
        if where.entries > where.limits.entries:
            where.problems.append(_too_long(where))
            return {}
    if known or not (forwards or _is_tree(accepted)):
        _check_graph(accepted, rows, known, where)
    return accepted


def _regular(
    rows: list[Any], known: Known, types: Types, where: Where
) -> tuple[dict[str, Component] | None, bool]:
    """The definitions where nothing whatever is wrong with the rows as rows; None sends them through
    `_check_rows`. And whether all of them refer to later ones only, which excludes cycles among them."""
    accepted: dict[str, Component] = {}
    forwards = True
    for index, row in enumerate(rows):
        if type(row) is not dict:
            return None, False
        component_id, type_name = row.get("id"), row.get("component")
        if type(component_id) is not str or type(type_name) is not str or not component_id or not type_name:
            return None, False
        kind = types.get(type_name)
        if kind is None:
            accepted[component_id] = _accept(component_id, index, row, known, types, where)
            continue
        where.index = index
        component = Component(component_id, type_name, kind, row, kind.accept(row, where))
        accepted[component_id] = component
        for child in component.children:
            if child in accepted:
                forwards = False
    limits = where.limits
    if len(accepted) < len(rows) or where.entries > limits.entries:
        return None, False
    return (accepted if len(known) + len(accepted) <= limits.components else None), forwards


def _check_rows(rows: list[Any], known: Known, where: Where) -> dict[str, tuple[int, dict[str, Any]]]:
    """Rows by id, the last one of each; refusals for what is no component (C)."""
    entries: dict[str, tuple[int, dict[str, Any]]] = {}
    where.key = ""
    for index, row in enumerate(rows):
        where.index = index
        if type(row) is not dict:
            message = must_be(f"components/{index}", "a JSON object", row)
            where.problems.append(_refusal(message, f"/components/{index}", where))
            continue
        component_id = row.get("id")
        if type(component_id) is not str or not component_id:
            message = must_be("id", "text that is not empty", row.get("id", ...))
            where.problems.append(_refusal(message, f"/components/{index}/id", where))
            continue
        if component_id in entries:
            where.add("The message has this id twice; the last one counts.", sub="/id")
        entries[component_id] = (index, row)
    _check_types(entries, known, where)
    return entries


def _check_types(entries: Mapping[str, tuple[int, dict[str, Any]]], known: Known, where: Where) -> None:
    for component_id, (index, row) in entries.items():
        type_name = row.get("component")
        if type_name is None and component_id not in known:
            message = f"Cannot create component {component_id[:40]!r} without a type."
            where.problems.append(_refusal(message, f"/components/{index}/component", where))
        elif type_name is not None and (type(type_name) is not str or not type_name):
            message = must_be("component", "the name of a type", type_name)
            where.problems.append(_refusal(message, f"/components/{index}/component", where))
    total = len(known) + sum(1 for component_id in entries if component_id not in known)
    if total > where.limits.components:
        where.problems.append(_too_many(total, where))


def _too_many(total: int, where: Where) -> Diagnostic:
    allowed = where.limits.components
    facts = {"limit": "components", "allowed": allowed, "got": total}
    message = f"A surface has at most {allowed} components."
    return Diagnostic(BUDGET_EXCEEDED, message, "/components", where.surface_id, refused=True, facts=facts)


def _too_long(where: Where) -> Diagnostic:
    allowed = where.limits.entries
    facts = {"limit": "entries", "allowed": allowed, "got": where.entries}
    message = f"The lists of all components of a message hold at most {allowed} entries. Use templates."
    return Diagnostic(BUDGET_EXCEEDED, message, "/components", where.surface_id, refused=True, facts=facts)


def _accept(
    component_id: str, index: int, raw: dict[str, Any], known: Known, types: Types, where: Where
) -> Component:
    before = known.get(component_id)
    type_name = raw.get("component") or (before.type_name if before else "")
    kind = types.get(type_name)
    where.index = index
    if kind is None:
        where.key = "component"
        # Once per id, however often it is sent again with the same type (5.1).
        if before is None or before.type_name != type_name:
            where.add(
                f"There is no component type {type_name[:40]!r}.",
                UNKNOWN_COMPONENT_TYPE,
                component=component_id,
            )
        return Component(component_id, type_name, None, raw, {})
    return Component(component_id, type_name, kind, raw, kind.accept(raw, where))


def _check_graph(accepted: dict[str, Component], rows: list[Any], known: Known, where: Where) -> None:
    """Refuses definitions with which components would contain themselves."""

    def references(component_id: str) -> tuple[Reference, ...]:
        component = accepted.get(component_id) or known.get(component_id)
        return component.references if component else ()

    cycle = find_cycle([key for key, component in accepted.items() if component.children], references)
    if not cycle:
        return
    message = "Components contain themselves: " + " > ".join([name[:40] for name in cycle[:8]]) + "."
    closing = next((name for name in cycle if name in accepted), None)
    at = [index for index, row in enumerate(rows) if row["id"] == closing]
    path = f"/components/{at[-1]}" if at else "/components"
    where.problems.append(_refusal(message, path, where, cycle=cycle[:50]))


def _is_tree(accepted: dict[str, Component]) -> bool:
    """Whether all components hang under the root and each at one place, as nearly all programs have it: then none
    contains itself."""
    order = [ROOT]
    left = accepted.copy()
    for component_id in order:  # which grows on the way
        # Each only once: two long lists of the same names would otherwise make one as long as their product.
        component = left.pop(component_id, None)
        if component is not None:
            order += component.children
    return not left and len(set(order)) == len(order)


def _refusal(message: str, path: str, where: Where, **facts: Any) -> Diagnostic:
    return Diagnostic(VALIDATION_FAILED, message, path, where.surface_id, refused=True, facts=facts)


def refused(problem: Diagnostic) -> Diagnostic:
    """The same problem as a reason to refuse the message."""
    return Diagnostic(problem.code, problem.message, problem.path, problem.surface_id, True, problem.facts)
