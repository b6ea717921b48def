"""Which components have to be looked at again because something inside of them was redefined: those that ask to be
hidden from screen readers, which they are unless something in them can take focus (section 7 of the reading of 1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2ui.rendering.place import Place
    from a2ui.rendering.view import View
    from a2ui.state.components import Component


def hiding(view: View, redefined: Mapping[str, None]) -> dict[str, None]:
    """The components around those that were redefined which ask to be hidden: whether they can be depends on what is
    inside of them."""
    if not view.hiding:
        return {}
    found: dict[str, None] = {}
    for component_id in redefined:
        places = view.places(component_id)
        if not places:
            # Not on the page so far, like what an empty list is made of: it may be inside of any.
            found = view.hiding
            break
        for place in places:
            found.update(dict.fromkeys(_around(place)))
    asking = view.store.by_id
    return {one: None for one in found if one not in redefined and _asks(asking.get(one))}


def _around(place: Place) -> list[str]:
    found, at = [], place
    while at.parent is not None and at.inherited.declared:
        at = at.parent
        found.append(at.component_id)
    return found


def _asks(component: Component | None) -> bool:
    given = component.props.get("accessibility") if component is not None else None
    return given is not None and given.hidden is not None
