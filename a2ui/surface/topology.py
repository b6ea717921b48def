"""Whether a finished surface hangs together (rulebook 5.1): strict validation only, streaming passes such states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from a2ui.errors import VALIDATION_FAILED, Diagnostic
from a2ui.state.components import ROOT

if TYPE_CHECKING:
    from a2ui.surface.surface import Surface


def topology_problems(surface: Surface) -> list[Diagnostic]:
    """A missing root, references to components that do not exist, components that `root` does not reach.

    Cycles never get this far: a message that closes one is refused.
    """
    return [Diagnostic(VALIDATION_FAILED, text, path, surface.id) for path, text in _problems(surface)]


def _problems(surface: Surface) -> Iterator[tuple[str, str]]:
    known = surface.store.by_id
    if ROOT not in known:
        yield "/components", "Missing root component: no component has the id root."
        return
    reached = {ROOT}
    todo = [ROOT]
    while todo:
        for reference in known[todo.pop()].references:
            if reference.child not in reached:
                reached.add(reference.child)
                if reference.child in known:
                    todo.append(reference.child)
    for component in surface.store:
        for reference in component.references:
            if reference.child not in known:
                where = f"/components/{component.id[:40]}/{reference.slot}"
                yield where, f"Dangling reference: there is no component {reference.child[:40]!r}."
    for component_id in known:
        if component_id not in reached:
            text = f"Orphaned component: {component_id[:40]!r} is not reachable from root."
            yield f"/components/{component_id[:40]}", text
