"""What a model reads of the surfaces that are on screen when its turn begins: their ids, their components, and their
data where they send it along (``sendDataModel``)."""

from __future__ import annotations

import json
from collections.abc import Collection

from a2ui import SurfaceSet
from envelopes.types import JsonObject

SCREEN_CHARACTERS = 8_000
"""Of JSON about all surfaces together. The newest come first; of what has no room only the ids are told, then only how
many there are."""


def on_screen(surfaces: SurfaceSet, owner: str, *, told: Collection[str] = ()) -> JsonObject | None:
    """The live surfaces of ``owner``, as JSON; None where there are none. ``told`` are those whose data its model reads
    elsewhere."""
    room = SCREEN_CHARACTERS
    shown: list[JsonObject] = []
    own = [surface for surface in reversed(list(surfaces)) if surface.owner == owner]
    for surface in own:
        about: JsonObject = {"surfaceId": surface.id, "catalogId": surface.catalog_id}
        components = [{**one.raw, "id": one.id, "component": one.type_name} for one in surface.store]
        whole = {**about, "components": components}
        if surface.send_data_model and surface.id not in told:
            whole["dataModel"] = surface.data_model
        types = {component.id: component.type_name for component in surface.store}
        for tried in (whole, {**about, "types": types, "note": "Without what does not fit here."}):
            size = len(json.dumps(tried, ensure_ascii=False))
            if size <= room:
                room -= size
                shown.append(tried)
                break
    if not own:
        return None
    found: JsonObject = {"surfaces": shown}
    if len(shown) < len(own):
        found["leftOut"] = len(own) - len(shown)
    return found
