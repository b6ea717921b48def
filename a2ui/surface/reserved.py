"""Names that the host keeps for itself: ids of surfaces, and names of the events that a person can send to it.

Looked for in what is about to be held, once it has been read, so that it does not matter how an agent wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from a2ui.data.values import pointer_text
from a2ui.errors import A2uiError
from a2ui.protocol.messages import CreateSurface, ServerMessage, UpdateComponents

Reserved = Callable[[str, str], bool]
"""Whether a name is the host's, for the agent of that owner: see `EngineOptions.reserved`."""


def check_names(message: ServerMessage, owner: str, reserved: Reserved) -> None:
    """Raises A2uiError for the first name in a message that its owner may not use."""
    if reserved(owner, message.surface_id):
        raise _refusal(message.surface_id, "/surfaceId")
    if not isinstance(message, UpdateComponents | CreateSurface):
        return
    for index, row in enumerate(message.components or ()):
        for key, tokens, name in _events(row):
            if reserved(owner, name):
                raise _refusal(name, pointer_text(("components", str(index), key, *tokens)))


def without_names(data: Mapping[str, Any], reserved: Reserved) -> Mapping[str, Any] | None:
    """`Surface.snapshot()` without the actions that its owner may not use; None for a surface that it may not have."""
    owner = data["owner"]
    if reserved(owner, data["surfaceId"]):
        return None
    components = []
    for component_id, type_name, raw, *rest in data["components"]:
        taken = {key for key, _, name in _events(raw) if reserved(owner, name)}
        kept = {key: value for key, value in raw.items() if key not in taken} if taken else raw
        components.append([component_id, type_name, kept, *rest])
    return {**data, "components": components}


def _events(row: Any) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """(property, path inside it, name) of every event that a definition of a component can send: `{event: {name}}`, or
    the short form `{name}` (see `catalog.actions`)."""
    if not isinstance(row, dict):
        return
    for key, value in row.items():
        if not isinstance(value, dict):
            continue
        for event, tokens in ((value.get("event"), ("event", "name")), (value, ("name",))):
            if isinstance(event, dict) and isinstance(event.get("name"), str):
                yield str(key), tokens, event["name"]


def _refusal(name: str, path: str) -> A2uiError:
    return A2uiError(f"The name {name[:60]!r} belongs to the host.", path=path, fault="agent")
