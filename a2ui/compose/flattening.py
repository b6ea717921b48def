"""From components inside of components to the adjacency list: each once, in page order, under an id.

An id that was given stays. Others are made from where the component stands (``root-2-child``), so the same code gives
the same ids, whatever its data says.
"""

from __future__ import annotations

from collections.abc import Iterable

from a2ui.catalog.registry import Catalog
from a2ui.compose.component import Component, Reference
from a2ui.compose.errors import ComposeError
from a2ui.compose.parts import Each
from a2ui.compose.values import Call, JsonObject, calls_in
from a2ui.functions.basic import FORMAT_STRING
from a2ui.schema.dynamic import INDEX

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
        _check_texts(found, catalog)
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


def check_positions(root: Component) -> None:
    """Raises ComposeError for ``@index`` where there is no template around it."""
    waiting, seen = [root], set()
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, Reference):
            continue
        seen.add(id(found))
        if any(INDEX in _named(called) for called in found.calls()):
            message = f"{INDEX} has a value inside of templates only."
            raise ComposeError(message, component=found.kind.name)
        # Inside of a template it has one.
        inside = [found.properties.get(slot) for slot in found.kind.slots]
        waiting += (
            [child for _, child in found.inside()] if not any(isinstance(one, Each) for one in inside) else []
        )


def _named(called: Call) -> set[str]:
    """The functions that a call calls: itself and, if it is a text, those in it."""
    value = called.args.get("value")
    texts = isinstance(value, str) and called.name == FORMAT_STRING
    return {called.name, *(name for name, _ in calls_in(str(value)))} if texts else {called.name}


def _check_texts(found: Component, catalog: Catalog) -> None:
    """Raises ComposeError for a text that calls a function which the catalog of its surface does not have."""
    for called in found.calls():
        for name in _named(called) - {called.name}:
            if name != INDEX and name not in catalog.functions:
                raise ComposeError(f"There is no function {name!r} in {catalog.id}.", component=FORMAT_STRING)
