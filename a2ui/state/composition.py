"""Which components may stand in which (section 5 of the reading of 1.0): `allowedParents` and `allowedChildren`.

Types are compared by name. The parent of `root` is the surface itself. A component that is not reachable from `root`
has no parent yet, so nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.envelope import SURFACE
from a2ui.errors import Diagnostic
from a2ui.protocol.answers import UNALLOWED_CHILD, UNALLOWED_PARENT
from a2ui.state.components import ROOT, Component, Reference

Get = Callable[[str], Component | None]


def may_stand_in(kind: ComponentType, parent: ComponentType | None) -> bool:
    """Whether both allow it; without a parent it is the surface."""
    return _takes_parent(kind, parent) and _takes_child(parent, kind)


def _takes_parent(kind: ComponentType, parent: ComponentType | None) -> bool:
    name = SURFACE if parent is None else parent.name
    return kind.allowed_parents is None or name in kind.allowed_parents


def _takes_child(parent: ComponentType | None, kind: ComponentType) -> bool:
    return parent is None or parent.allowed_children is None or kind.name in parent.allowed_children


def breaches(changed: Iterable[str], rows: list[Any], get: Get, surface_id: str) -> list[Diagnostic]:
    """What the tree that is reachable from `root` must not hold, as far as it has to do with components that changed.
    `rows` are those of the message."""
    at = {row["id"]: index for index, row in enumerate(rows) if isinstance(row, dict) and "id" in row}
    concerned = set(changed)
    root = get(ROOT)
    found: list[Diagnostic] = []
    if root is not None and root.type is not None and ROOT in concerned:
        found += _breach(root, None, None, at, surface_id)
    todo, seen = [ROOT], {ROOT}
    while todo:
        parent = get(todo.pop())
        for reference in parent.references if parent is not None else ():
            child = get(reference.child)
            if child is None or parent is None:
                continue
            if parent.id in concerned or child.id in concerned:
                found += _breach(child, parent, reference, at, surface_id)
            if child.id not in seen:
                seen.add(child.id)
                todo.append(child.id)
    return found


def _breach(
    child: Component,
    parent: Component | None,
    reference: Reference | None,
    at: dict[str, int],
    surface_id: str,
) -> list[Diagnostic]:
    kind, around = child.type, parent.type if parent is not None else None
    if kind is None or (parent is not None and around is None):
        return []
    place = _pointer(parent, reference) if parent is not None and reference is not None else ""
    inside = f"/components/{at[parent.id]}{place}" if parent is not None and parent.id in at else ""
    itself = f"/components/{at[child.id]}" if child.id in at else ""
    name = SURFACE if around is None else around.name
    if not _takes_parent(kind, around):
        message = f"{kind.name} may not stand in {name}."
        return [Diagnostic(UNALLOWED_PARENT, message, itself or inside, surface_id)]
    if not _takes_child(around, kind):
        message = f"{name} may not hold {kind.name}."
        return [Diagnostic(UNALLOWED_CHILD, message, inside or itself, surface_id)]
    return []


def _pointer(parent: Component, reference: Reference) -> str:
    """Where the parent names the child."""
    value = parent.raw.get(reference.slot)
    if not isinstance(value, list):
        return f"/{reference.slot}"
    places = [
        f"/{reference.slot}/{index}{'/child' if isinstance(item, dict) else ''}"
        for index, item in enumerate(value)
        if item == reference.child or (isinstance(item, dict) and item.get("child") == reference.child)
    ]
    return places[reference.nth] if reference.nth < len(places) else f"/{reference.slot}"
