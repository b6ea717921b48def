"""``a2ui-surface``: an interface, as A2UI messages (envelope document, "The canonical three"; D2)."""

from __future__ import annotations

from django.utils.translation import gettext as _

from envelopes.errors import ValidationFailed
from envelopes.protocol.surfaces import messages_of
from envelopes.registries.part_types import ACTOR, PartType
from envelopes.registries.retelling import cut, shortened
from envelopes.types import JsonObject


def _in_words(part: JsonObject) -> str:
    try:
        messages = messages_of(part.get("data"))
    except ValidationFailed:
        return ""
    verbs = {
        "createSurface": _("created"),
        "updateComponents": _("components changed"),
        "updateDataModel": _("data changed"),
        "deleteSurface": _("closed"),
        "surfaceUpdate": _("components changed"),
        "dataModelUpdate": _("data changed"),
        "beginRendering": _("shown"),
    }
    told: dict[str, list[str]] = {}
    for message in messages:
        for verb, body in message.items():
            if isinstance(body, dict):
                told.setdefault(str(body.get("surfaceId", "?")), []).append(verbs.get(verb, verb))
    return "; ".join(
        _("Surface {}: {}.").format(name, ", ".join(dict.fromkeys(changes))) for name, changes in told.items()
    )


def _retold(part: JsonObject) -> str:
    """For each surface what became of it, its components by id, and the data that the agent sent."""
    try:
        messages = messages_of(part.get("data"))
    except ValidationFailed:
        return ""
    told: dict[str, list[str]] = {}
    for message in messages:
        for verb, body in message.items():
            if isinstance(body, dict) and "surfaceId" in body:
                told.setdefault(str(body["surfaceId"]), []).extend(_changed(verb, body))
    lines = [f"[Surface {name}: {', '.join(dict.fromkeys(changes))}]" for name, changes in told.items()]
    return cut("\n".join(lines))


def _changed(verb: str, body: JsonObject) -> list[str]:
    known = {"createSurface": "created", "deleteSurface": "closed", "beginRendering": "created"}
    said = [known[verb]] if verb in known else []
    components = body.get("components")
    if isinstance(components, list):
        listed = (one for one in components if isinstance(one, dict))
        said += [f"{one.get('id', '?')} ({_type_of(one)})" for one in listed]
    for name in ("value", "dataModel", "contents"):
        if name in body:
            said.append(f"data {body.get('path') or '/'} = {shortened(body[name])}")
    if verb == "updateDataModel" and "value" not in body:
        said.append(f"data {body.get('path') or '/'} removed")
    return said


def _type_of(component: JsonObject) -> str:
    kind = component.get("component")
    # Until 0.9 the type was a key.
    return next(iter(kind), "?") if isinstance(kind, dict) else str(kind or "?")


A2UI_SURFACE = PartType(
    "a2ui-surface",
    ACTOR,
    "flush",
    "once",
    data="required",
    requires_surfaces=True,
    allowed_late=True,
    canonical=True,
    retold=_retold,
    in_words=_in_words,
    description="an interface: A2UI messages, several in {messages: [...]}",
    example={
        "data": {
            "version": "1.0",
            "createSurface": {
                "surfaceId": "hello",
                "catalogId": "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json",
                "components": [{"id": "root", "component": "Text", "text": "Hello"}],
            },
        }
    },
)
