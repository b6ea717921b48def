"""What an ``a2ui-surface`` part may hold, as a list of A2UI messages (D2), and what an agent may not use (D22)."""

from __future__ import annotations

import unicodedata

import regex  # type: ignore[import-untyped]

from envelopes.errors import ValidationFailed
from envelopes.types import Json, JsonObject

RESERVED = ("beach:", "_ggui:")
RUNTIME = "beach:runtime"
"""The owner of the runtime's own surfaces, which no actor can be called."""
_UNSEEN = regex.compile(r"[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]")
_UNSEEN_ASCII = dict.fromkeys((*range(0x21), 0x7F))
_DATA = frozenset({"updateDataModel", "dataModelUpdate"})
_ORDER = ("createSurface", "updateDataModel", "updateComponents", "deleteSurface")


def messages_of(data: Json) -> list[JsonObject]:
    """One message, ``{"messages": [...]}``, or the combined object of the envelope document, split in the order
    create, data, components. Raises ``ValidationFailed`` when it is none of these."""
    return [message for _, message in placed_messages(data)]


def placed_messages(data: Json) -> list[tuple[str, JsonObject]]:
    """``messages_of``, each with the JSON Pointer into the part at which it stands. Raises as that does."""
    if not isinstance(data, dict):
        raise ValidationFailed(
            "The data of a surface part is an A2UI message or {messages: [...]}.", path="/data"
        )
    if "messages" not in data:
        return [("/data", message) for message in _split(data)]
    messages = data["messages"]
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise ValidationFailed("messages is a list of A2UI messages.", path="/data/messages")
    return [
        (f"/data/messages/{number}", part)
        for number, message in enumerate(messages)
        for part in _split(message)
    ]


def _split(message: JsonObject) -> list[JsonObject]:
    verbs = [verb for verb in _ORDER if verb in message]
    if len(verbs) < 2 or "deleteSurface" in verbs:
        return [message]
    rest = {key: value for key, value in message.items() if key not in verbs}
    return [{**rest, verb: message[verb]} for verb in verbs]


def places_of_data(data: Json) -> tuple[str, ...] | None:
    """Of the data of a part that does nothing but set data of surfaces, what tells the places that it sets from others:
    a later part with the same leaves nothing of it on the screen. None for every other part."""
    try:
        messages = messages_of(data)
    except ValidationFailed:
        return None
    places: list[str] = []
    for message in messages:
        for verb, body in message.items():
            if verb in _DATA and isinstance(body, dict):
                names = _names_in(body.get("contents"))
                places += (str(body.get("surfaceId")), str(body.get("path") or "/"), *names)
            elif verb != "version":
                return None
    return tuple(places) or None


def _names_in(contents: Json) -> list[str]:
    """Until 0.9 a message named what it set: at one place others may stand beside it."""
    if not isinstance(contents, list):
        return []
    return [str(entry.get("key")) for entry in contents if isinstance(entry, dict)]


def is_reserved(name: str) -> bool:
    """Whether it is one of the runtime's, or would be for whoever cleans, folds or reads it (D22)."""
    if name.isascii():
        # The same for what most names are: the pattern is the dearest thing in a small update of a surface.
        return name.translate(_UNSEEN_ASCII).casefold().startswith(RESERVED)
    folded = unicodedata.normalize("NFKD", _UNSEEN.sub("", name)).casefold()
    seen: str = _UNSEEN.sub("", folded)
    return seen.startswith(RESERVED)
