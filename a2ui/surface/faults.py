"""What keeps people from seeing what an agent has written: for hosts that refuse it and say why (D60).

Lenient mode draws a surface as far as it goes, and reports the rest; strict mode refuses whatever the schemas refuse.
This stands between: a property that nobody knows, or a choice that is none, costs nothing that people miss. A component
that is not there, a child that is none, a required property without a value and a call without a function do.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from a2ui.catalog.strict import strict_problems
from a2ui.errors import UNUSABLE, VALIDATION_FAILED, Diagnostic
from a2ui.protocol.answers import UNALLOWED_CHILD, UNALLOWED_PARENT
from a2ui.protocol.dialects import dialect_of
from a2ui.state.components import ROOT
from a2ui.state.rows import CATALOG_NOT_FOUND, UNKNOWN_COMPONENT_TYPE
from a2ui.surface.surface import Surface

_PLACE: Final = re.compile(r"/components/(\d+)(?:/([^/]*))?(.*)", re.DOTALL)
_LOST: Final = frozenset({UNKNOWN_COMPONENT_TYPE, CATALOG_NOT_FOUND, UNALLOWED_CHILD, UNALLOWED_PARENT})
_LISTED: Final = 60
_NESTED: Final = (
    " Components are not nested: put it into the list with an id of its own, and name that id here."
)


def faults(
    surface: Surface | None, message: Mapping[str, Any], problems: Iterable[Diagnostic]
) -> list[Diagnostic]:
    """Those of the `problems` that `SurfaceSet.apply` told of `message` for which people miss something, and its calls
    that can have no value; all as refusals. `surface` is the one that the message has changed, None where it has been
    refused.

    Each has the fact `component`, the id of the component, and mostly `allowed`, what may stand there instead.
    """
    rows = _rows(message)
    found = [_told(surface, rows, problem) for problem in problems if _is_lost(surface, rows, problem)]
    if surface is None:
        return found
    found += _nothing_given(surface, rows, {problem.path for problem in found})
    dialect = dialect_of(message.get("version"))
    if rows and dialect is not None:
        places = {problem.path for problem in found}
        found += [
            _told(surface, rows, problem)
            for problem in strict_problems(message, dialect.notation_of(rows), surface.vocabulary)
            if UNUSABLE in problem.facts and problem.path not in places
        ]
    return found


def _nothing_given(surface: Surface, rows: Sequence[Any], places: Container[str]) -> Iterator[Diagnostic]:
    """Required properties that are null, which counts as if they were not there."""
    for at, row in enumerate(rows):
        component = surface.store.by_id.get(row.get("id", "")) if isinstance(row, dict) else None
        kind = component.type if component is not None else None
        if kind is None:
            continue
        for key in sorted(kind.required):
            path = f"/components/{at}/{key}"
            if key in row and row[key] is None and path not in places:
                problem = Diagnostic(VALIDATION_FAILED, f"{kind.name} needs {key}.", path, surface.id)
                yield _told(surface, rows, problem)


def unfinished(surface: Surface, places: Mapping[str, str]) -> list[Diagnostic]:
    """What a surface lacks that an agent is through with: the root, and children of those components that `places` has.
    These are pointers to their definitions, by id; they become the paths of what is told."""
    known = surface.store.by_id
    ids = [*known][:_LISTED]
    if ROOT not in known:
        text = "Nothing shows: no component has the id root. Give that id to the one that holds the others."
        first = next(iter(places.values()), "")
        return [_refusal(text, first.rpartition("/")[0], surface, ROOT, ids)]
    found = []
    for component_id, pointer in places.items():
        component = known.get(component_id)
        for reference in component.references if component is not None else ():
            if reference.child not in known:
                named = f"which {component_id[:40]!r} names in {reference.slot}"
                text = f"There is no component {reference.child[:40]!r}, {named}."
                found.append(_refusal(text, f"{pointer}/{reference.slot}", surface, component_id, ids))
    return found


def is_lost(problem: Diagnostic) -> bool:
    """Whether something that showed only while drawing (`SurfaceSet.diagnostics`) can never have a value: a function in
    a text that is not there, a text that cannot be read."""
    return UNUSABLE in problem.facts


def _rows(message: Mapping[str, Any]) -> Sequence[Any]:
    body = next((one for key, one in message.items() if key != "version"), None)
    rows = body.get("components") if isinstance(body, dict) else None
    return rows if isinstance(rows, list) else ()


def _is_lost(surface: Surface | None, rows: Sequence[Any], problem: Diagnostic) -> bool:
    if problem.refused or problem.code in _LOST:
        return True
    row, key, _ = _place(problem.path, rows)
    if UNUSABLE not in problem.facts or row is None:
        return False
    component = surface.store.by_id.get(row.get("id", "")) if surface is not None else None
    kind = component.type if component is not None else None
    return key == "id" or (kind is not None and (key in kind.required or key in kind.slots))


def _place(path: str, rows: Sequence[Any]) -> tuple[dict[str, Any] | None, str, str]:
    """(row, its member, what follows) of a path into a message."""
    found = _PLACE.fullmatch(path)
    at = int(found[1]) if found is not None and len(found[1]) < 9 else len(rows)
    row = rows[at] if at < len(rows) else None
    if found is None or not isinstance(row, dict):
        return None, "", ""
    return row, (found[2] or "").replace("~1", "/").replace("~0", "~"), found[3]


def _told(surface: Surface | None, rows: Sequence[Any], problem: Diagnostic) -> Diagnostic:
    """`problem` as a refusal, with the component that it is about and what may stand there."""
    row, key, inside = _place(problem.path, rows)
    facts = {name: fact for name, fact in problem.facts.items() if name != UNUSABLE}
    text = problem.message
    if row is not None:
        facts["component"] = str(row.get("id", ""))[:256]
        if _is_nested(row.get(key)):
            text += _NESTED
    allowed = [*_allowed(surface, row, key, inside, problem)]
    if allowed:
        facts["allowed"] = allowed[:_LISTED]
    return replace(problem, message=text, refused=True, facts=facts)


def _is_nested(value: Any) -> bool:
    held = value if isinstance(value, list) else [value]
    return any(isinstance(one, dict) and "component" in one for one in held)


def _allowed(
    surface: Surface | None, row: Mapping[str, Any] | None, key: str, inside: str, problem: Diagnostic
) -> Iterator[str]:
    if surface is None or row is None:
        return
    words = surface.vocabulary
    if problem.code == UNKNOWN_COMPONENT_TYPE or key == "component":
        catalog = words.catalog(row.get("@catalogId", "")) or words.default
        yield from sorted(catalog.components)
    elif UNUSABLE in problem.facts and inside.endswith(("/@call", "/call")):
        yield from sorted(words.default.functions.by_name)
    elif UNUSABLE in problem.facts and not inside:
        component = surface.store.by_id.get(row.get("id", ""))
        kind = component.type if component is not None else None
        if kind is not None and key not in row:
            yield from (name for name in kind.kinds if name not in ("accessibility", "weight"))


def _refusal(text: str, path: str, surface: Surface, component_id: str, allowed: Sequence[str]) -> Diagnostic:
    facts = {"component": component_id, "allowed": allowed}
    return Diagnostic(VALIDATION_FAILED, text, path, surface.id, refused=True, facts=facts)
