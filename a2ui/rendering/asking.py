"""Which calls of agents' functions a view shows, and which of its instances show one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from a2ui.binding.agent_calls import AgentCalls, Request
from a2ui.rendering.patterns import instances, resolve

if TYPE_CHECKING:
    from a2ui.rendering.place import Part
    from a2ui.rendering.view import View


def requests(view: View, calls: AgentCalls) -> dict[str, Request]:
    """What the view, as it is drawn now, wants asked, by key; a function of the definitions and the data alone."""
    return {request.key: request for _, _, _, request in _shown(view, calls)}


def mark(view: View, calls: AgentCalls, look_before: Callable[[str], object]) -> None:
    """The instances that show a request otherwise than before are to be drawn; see `AgentCalls.looks`."""
    dirty, look = view.index.dirty, calls.looks()
    for part, names, indices, request in _shown(view, calls):
        if look_before(request.key) != look(request.key):
            dirty[part, names] = indices


def _shown(view: View, calls: AgentCalls) -> Iterator[tuple[Part, tuple[str, ...], tuple[int, ...], Request]]:
    """(part, keys and indices of the items around it, what it asks) of every instance that is shown."""
    root = view.source.now
    view.compiler.work.begin()
    for part, sites in list(calls.parts.items()):
        place = part.place
        for _, names, indices in instances(place.levels, {}):
            found = resolve(place, root, names, indices)
            if found is None:
                continue
            for site in sites:
                request = site.request(found[0])
                if isinstance(request, Request):
                    yield part, names, indices, request
