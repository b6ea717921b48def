"""What changes a surface that is there into what it is to be now: as little as that takes, so that what people typed
meanwhile stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from a2ui.compose.surface import VERSION, delete_surface, update_data
from a2ui.compose.values import JsonObject

MOST: Final = 50
"""Writes to a data model; where it would take more, all of it is written at once."""


def changes(before: JsonObject, after: JsonObject) -> list[JsonObject]:
    """A2UI messages from one ``createSurface`` body to another of the same surface; none where nothing differs."""
    surface_id = str(after["surfaceId"])
    if _fixed(before) != _fixed(after):
        # What a surface is made with cannot change.
        return [delete_surface(surface_id), {"version": VERSION, "createSurface": after}]
    writes = list(_writes("", before.get("dataModel", {}), after.get("dataModel", {})))
    if len(writes) > MOST:
        writes = [("/", after.get("dataModel", {}))]
    messages = [update_data(surface_id, pointer, value) for pointer, value in writes]
    known = {row["id"]: row for row in before["components"]}
    rows = [row for row in after["components"] if known.get(row["id"]) != row]
    if rows:
        body = {"surfaceId": surface_id, "components": rows}
        messages.append({"version": VERSION, "updateComponents": body})
    return messages


def _fixed(body: JsonObject) -> JsonObject:
    return {key: value for key, value in body.items() if key not in ("components", "dataModel")}


def _writes(at: str, before: Any, after: Any) -> Iterator[tuple[str, Any]]:
    """(pointer, value) of what differs; None removes. Lists are written whole: their items keep their places by key."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        if before != after:
            yield at or "/", after
        return
    for key in before.keys() | after.keys():
        pointer = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in after:
            yield pointer, None
        elif key not in before:
            yield pointer, after[key]
        else:
            yield from _writes(pointer, before[key], after[key])
