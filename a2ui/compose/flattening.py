"""From components inside of components to the adjacency list: each once, in page order, under an id.

An id that was given stays. Others are made from where the component stands (``root-2-child``), so the same code gives
the same ids, whatever its data says.
"""

from __future__ import annotations

from collections.abc import Iterable

from a2ui.catalog.registry import Catalog
from a2ui.compose.component import Component, Reference, check_texts
from a2ui.compose.errors import ComposeError
from a2ui.compose.values import JsonObject

ROOT = "root"


def flattened(tops: Iterable[tuple[str, Component]], catalog: Catalog) -> list[JsonObject]:
    """The rows of these components, each under the id beside it, and of all that are inside of them, for a surface
    whose catalog is ``catalog``. Raises ComposeError where two components have one id."""
    listed = list(tops)
    ids: dict[int, str] = {}
    """By the identity of a component: the same object in two places is one component."""
    ordered: list[Component] = []
    given = dict(listed)
    _collect(listed, given)
    waiting = list(reversed(listed))
    while waiting:
        name, found = waiting.pop()
        if id(found) in ids:
            continue
        if isinstance(found, Reference):
            ids[id(found)] = found.id
            continue
        own_id = found.id or name
        while given.get(own_id, found) is not found:
            # A place whose name somebody was given.
            own_id += "-"
        given[own_id], ids[id(found)] = found, own_id
        ordered.append(found)
        waiting += [(f"{own_id}-{end}", child) for end, child in reversed([*found.inside()])]
    for found in ordered:
        check_texts(found, catalog)
    return [found.row(ids[id(found)], lambda child: ids[id(child)], catalog) for found in ordered]


def _collect(tops: list[tuple[str, Component]], given: dict[str, Component]) -> None:
    """Adds the ids that were given inside of ``tops``."""
    waiting, seen = [found for _, found in tops], set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, Reference):
            continue
        seen.add(id(found))
        if found.id and given.setdefault(found.id, found) is not found:
            raise ComposeError(
                f"Two components are called {found.id!r}.", component=found.kind.name, property="id"
            )
        waiting += [child for _, child in found.inside()]
