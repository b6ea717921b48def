"""The rows of `updateComponents`: from JSON to component definitions, all or none (rulebook 4, 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2ui.catalog import envelope
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.failing import failed, noted
from a2ui.catalog.registry import Vocabulary
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, Diagnostic, must_be
from a2ui.state.components import ROOT, Component, Reference
from a2ui.state.cycles import find_cycle

UNKNOWN_COMPONENT_TYPE = "UNKNOWN_COMPONENT_TYPE"

CATALOG_NOT_FOUND = "CATALOG_NOT_FOUND"

Known = Mapping[str, Component]


def accept(rows: list[Any], known: Known, words: Vocabulary, where: AcceptContext) -> dict[str, Component]:
    """The definitions of one message by id; what is wrong with them goes to `where`.

    With a refused problem there, none of them may be used. `known` are the definitions that the surface has.
    """
    if len(rows) > where.limits.components:
        where.problems.append(_too_many(len(rows), where))
        return {}
    accepted, forwards = accept_fast(rows, known, words, where)
    if accepted is None:
        where.problems.clear()
        where.entries = 0
        accepted = accept_full(rows, known, words, where)
        if accepted is None:
            return {}
    if known or not (forwards or _is_tree(accepted)):
        _check_graph(accepted, rows, known, where)
    return accepted


def accept_full(
    rows: list[Any], known: Known, words: Vocabulary, where: AcceptContext
) -> dict[str, Component] | None:
    """The definitions, each row looked at for whatever can be wrong with it; None where that refuses the message."""
    entries = _check_rows(rows, known, where)
    if any(problem.refused for problem in where.problems):
        return None
    accepted = {key: _accept(key, index, raw, known, words, where) for key, (index, raw) in entries.items()}
    if where.entries > where.limits.entries:
        where.problems.append(_too_long(where))
        return None
    return accepted


def accept_fast(
    rows: list[Any], known: Known, words: Vocabulary, where: AcceptContext
) -> tuple[dict[str, Component] | None, bool]:
    """What `accept_full` gives where nothing whatever is wrong with the rows as rows, else None. And whether all of
    them refer to later ones only, which excludes cycles among them. Large messages are 3 to 11 % slower without."""
    accepted: dict[str, Component] = {}
    forwards = True
    notation, types = where.notation, words.default.components
    marked, ours = notation.marked, words.ours
    for index, row in enumerate(rows):
        if type(row) is not dict:
            return None, False
        component_id, type_name = row.get("id"), row.get("component")
        if type(component_id) is not str or type(type_name) is not str or not component_id or not type_name:
            return None, False
        kind = types.get(type_name)
        if marked and ("@catalogId" in row or "catalogId" in row):
            kind = words.component(type_name, _catalog_of(row, type_name, words, where))
        if kind is None:
            component = _accept(component_id, index, row, known, words, where)
        else:
            where.index = index
            try:
                component = Component(component_id, type_name, kind, row, kind.accept(row, where), notation)
                if not (ours or kind.ours):
                    component.check()
            except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
                component = failing(component_id, kind, row, words, where, error)
        accepted[component_id] = component
        for child in component.children:
            if child in accepted:
                forwards = False
    limits = where.limits
    if len(accepted) < len(rows) or where.entries > limits.entries:
        return None, False
    return (accepted if len(known) + len(accepted) <= limits.components else None), forwards


def _check_rows(rows: list[Any], known: Known, where: AcceptContext) -> dict[str, tuple[int, dict[str, Any]]]:
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
            where.add("The message has this id twice; the last one counts.", sub="/id", unusable=True)
        entries[component_id] = (index, row)
    _check_types(entries, known, where)
    return entries


def _check_types(
    entries: Mapping[str, tuple[int, dict[str, Any]]], known: Known, where: AcceptContext
) -> None:
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


def _too_many(total: int, where: AcceptContext) -> Diagnostic:
    allowed = where.limits.components
    facts = {"limit": "components", "allowed": allowed, "got": total}
    message = f"A surface has at most {allowed} components."
    return Diagnostic(BUDGET_EXCEEDED, message, "/components", where.surface_id, refused=True, facts=facts)


def _too_long(where: AcceptContext) -> Diagnostic:
    allowed = where.limits.entries
    facts = {"limit": "entries", "allowed": allowed, "got": where.entries}
    message = f"The lists of all components of a message hold at most {allowed} entries. Use templates."
    return Diagnostic(BUDGET_EXCEEDED, message, "/components", where.surface_id, refused=True, facts=facts)


def _accept(
    component_id: str, index: int, raw: dict[str, Any], known: Known, words: Vocabulary, where: AcceptContext
) -> Component:
    before = known.get(component_id)
    type_name = raw.get("component") or (before.type_name if before else "")
    catalog_id = _catalog_of(raw, type_name, words, where)
    if before is not None and "component" not in raw and catalog_id == "":
        catalog_id = _catalog_of(before.raw, type_name, words, where)
        raw = {**raw, "@catalogId": catalog_id} if catalog_id else raw
    kind = words.component(type_name, catalog_id)
    where.index = index
    if type_name == envelope.SURFACE and where.notation.marked:
        where.key = "component"
        where.refuse("Surface is a reserved type: it is the surface itself.")
        return Component(component_id, type_name, None, raw, {}, where.notation)
    if kind is not None:
        return made(component_id, type_name, kind, raw, words, where)
    # Once per id, however often it is sent again with the same type (5.1).
    if before is None or before.type_name != type_name or before.type is not None:
        if words.catalog(catalog_id) is None:
            where.key = "@catalogId" if "@catalogId" in raw else "catalogId"
            where.add(
                f"Catalog not found: {str(catalog_id)[:200]}", CATALOG_NOT_FOUND, component=component_id
            )
        else:
            where.key = "component"
            message = f"There is no component type {type_name[:40]!r}."
            where.add(message, UNKNOWN_COMPONENT_TYPE, component=component_id)
    return Component(component_id, type_name, None, raw, {}, where.notation)


def made(
    component_id: str,
    type_name: str,
    kind: ComponentType,
    raw: dict[str, Any],
    words: Vocabulary,
    where: AcceptContext,
) -> Component:
    """The definition of a component; one of a type that nobody knows where code of an application fails with it."""
    try:
        component = Component(component_id, type_name, kind, raw, kind.accept(raw, where), where.notation)
        if not kind.ours:
            component.check()
    except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
        return failing(component_id, kind, raw, words, where, error)
    return component


def failing(
    component_id: str,
    kind: ComponentType,
    raw: dict[str, Any],
    words: Vocabulary,
    where: AcceptContext,
    error: Exception,
) -> Component:
    """The definition of a component of an application whose code failed with it, which is told. Raises an error of ours
    again."""
    if kind.ours:
        raise error
    catalog_id = catalog_id_of(raw, words)
    noted(kind, catalog_id, component_id, error, "its definition was read")
    where.key = "component"
    told = failed(kind, catalog_id, error)
    where.add(told.message, told.code, component=component_id, **told.facts)
    return Component(component_id, kind.name, None, raw, {}, where.notation)


def catalog_id_of(raw: Mapping[str, Any], words: Vocabulary) -> str:
    """The id of the catalog that the type of a definition is of, as far as anybody can tell."""
    return str(envelope.catalog_of(raw) or words.default.id)


def kind_of(
    raw: dict[str, Any], type_name: str, words: Vocabulary, where: AcceptContext
) -> ComponentType | None:
    """The type of a definition that was accepted before."""
    return words.component(type_name, _catalog_of(raw, type_name, words, where))


def _catalog_of(raw: dict[str, Any], type_name: str, words: Vocabulary, where: AcceptContext) -> Any:
    """The catalog that a row names, "" for none; a key without @ may be a property of the type instead."""
    if not where.notation.marked:
        return ""
    kind = words.default.components.get(type_name)
    if "@catalogId" not in raw and kind is not None and "catalogId" in kind.kinds:
        return ""
    return envelope.catalog_of(raw)


def _check_graph(accepted: dict[str, Component], rows: list[Any], known: Known, where: AcceptContext) -> None:
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


def _refusal(message: str, path: str, where: AcceptContext, **facts: Any) -> Diagnostic:
    return Diagnostic(VALIDATION_FAILED, message, path, where.surface_id, refused=True, facts=facts)


def refused(problem: Diagnostic) -> Diagnostic:
    """The same problem as a reason to refuse the message."""
    return Diagnostic(problem.code, problem.message, problem.path, problem.surface_id, True, problem.facts)
