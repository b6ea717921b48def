"""Which components have to be looked at again because something inside of them was redefined: those that ask to be
hidden from screen readers, which they are unless something in them can take focus (section 7 of the reading of 1.0)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2ui.rendering.place import Place


def hiding(redefined: Mapping[str, None], places: Callable[[str], Collection[Place]]) -> dict[str, None]:
    """The components around those that were redefined which ask to be hidden: whether they can be depends on what is
    inside of them."""
    found: dict[str, None] = {}
    for component_id in redefined:
        for place in places(component_id):
            at = place
            while at.parent is not None and at.inherited.declared:
                at = at.parent
                given = at.component.props.get("accessibility") if at.component is not None else None
                if given is not None and given.hidden is not None and at.component_id not in redefined:
                    found[at.component_id] = None
    return found
