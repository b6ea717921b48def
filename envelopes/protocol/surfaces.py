"""What an ``a2ui-surface`` part may hold, as a list of A2UI messages (D2), and what an agent may not use (D22)."""

from __future__ import annotations

import unicodedata
from typing import Any

from envelopes.errors import ValidationFailed
from envelopes.types import Json, JsonObject

RESERVED = ("beach:", "_ggui:")
_ORDER = ("createSurface", "updateDataModel", "updateComponents", "deleteSurface")


def messages_of(data: Json) -> list[JsonObject]:
    """One message, ``{"messages": [...]}``, or the combined object of the envelope document, split in the order
    create, data, components. Raises ``ValidationFailed`` when it is none of these."""
    if not isinstance(data, dict):
        raise ValidationFailed(
            "The data of an a2ui-surface part is an A2UI message or {messages: [...]}.", path="/data"
        )
    if "messages" in data:
        messages = data["messages"]
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            raise ValidationFailed("messages is a list of A2UI messages.", path="/data/messages")
        return [part for message in messages for part in _split(message)]
    return _split(data)


def _split(message: JsonObject) -> list[JsonObject]:
    verbs = [verb for verb in _ORDER if verb in message]
    if len(verbs) < 2 or "deleteSurface" in verbs:
        return [message]
    rest = {key: value for key, value in message.items() if key not in verbs}
    return [{**rest, verb: message[verb]} for verb in verbs]


def check_reserved(messages: list[JsonObject]) -> None:
    """Raises ``ValidationFailed`` when an agent uses a surface id or an action name that belongs to the runtime."""
    for message in messages:
        for verb in _ORDER:
            body = message.get(verb)
            if isinstance(body, dict) and _reserved(body.get("surfaceId")):
                raise ValidationFailed(
                    f"Surface ids that start with {' or '.join(RESERVED)} belong to the runtime.",
                    path=f"/{verb}/surfaceId",
                )
        components = message.get("updateComponents")
        if isinstance(components, dict) and isinstance(components.get("components"), list):
            for number, component in enumerate(components["components"]):
                if _reserved(_action_name(component)):
                    raise ValidationFailed(
                        f"Action names that start with {' or '.join(RESERVED)} belong to the runtime.",
                        path=f"/updateComponents/components/{number}/action",
                    )


def _action_name(component: Any) -> Json:
    action = component.get("action") if isinstance(component, dict) else None
    if not isinstance(action, dict):
        return None
    event = action.get("event")
    return event.get("name") if isinstance(event, dict) else action.get("name")


def _reserved(name: Json) -> bool:
    """Whether it is one of the runtime's, or would be for whoever cleans, folds or reads it."""
    if not isinstance(name, str):
        return False
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(char for char in folded if char.isprintable() and char != " ").startswith(RESERVED)
