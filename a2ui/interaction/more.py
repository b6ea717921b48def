"""Asking for more of a list that is shown only in part (rulebook section 23)."""

from __future__ import annotations

from dataclasses import dataclass

from a2ui.errors import ActionError
from a2ui.interaction.locate import Instance


@dataclass(frozen=True, slots=True)
class More:
    """A person's wish to see more of a list: `count` items of the list whose element has the DOM id `target`."""

    owner: str
    surface_id: str
    target: str
    count: int


def more(instance: Instance | None) -> More:
    """What a click on "show more" asks for. Raises ActionError where nothing is left out, or nothing more fits."""
    slot = instance.place.slot if instance is not None else None
    state = slot.states.get(instance.context) if instance is not None and slot is not None else None
    offered = (
        instance.surface.view.listing.offered(state) if instance is not None and state is not None else 0
    )
    if instance is None or state is None or not offered:
        raise ActionError("There is no more to show here.")
    surface = instance.surface
    return More(surface.owner, surface.id, instance.dom_id, state.visible + offered)
