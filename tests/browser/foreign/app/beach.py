"""What the list keeper says: a surface with a list, and what becomes of it when its buttons are pressed."""

from __future__ import annotations

from typing import Any

from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Conversation, Reply, Say, ScriptedProvider, data, text
from envelopes.registries.actors import Actor, actors
from envelopes.types import JsonObject
from tests.browser.foreign.app.report import report
from tests.browser.foreign.app.rows import COMPONENTS, FIRST, row

BASIC = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"


def changed(name: str, context: JsonObject) -> list[JsonObject]:
    """What a click makes of the list."""
    rows: list[Any] = context["rows"]
    at = next((place for place, one in enumerate(rows) if one["id"] == context.get("id")), 0)
    match name:
        case "add":
            value = row(1 + max((one["id"] for one in rows), default=0))
            return [update(f"/rows/{len(rows)}", value)]
        case "remove":
            return [update("/rows", rows[:at] + rows[at + 1 :])]
        case "up":
            moved = [one for one in rows if one is not rows[at]]
            return [update("/rows", [*moved[: max(at - 1, 0)], rows[at], *moved[max(at - 1, 0) :]])]
        case _:
            words = {"id": "words", "component": "Text", "text": {"@path": "words"}, "variant": "caption"}
            define = {"surfaceId": "list", "components": [words]}
            return [
                update("/title", f"{context['title'].upper()}!"),
                {"version": "1.0", "updateComponents": define},
            ]


def update(path: str, value: Any) -> JsonObject:
    return {"version": "1.0", "updateDataModel": {"surfaceId": "list", "path": path, "value": value}}


def script(request: ModelRequest) -> Reply:
    conversation = Conversation(request)
    action = conversation.action
    if action is not None and action["name"] == "book":
        who = action["context"]["values"]
        cheaper = {
            "version": "1.0",
            "updateDataModel": {"surfaceId": "report", "path": "/fares/1/price", "value": 60},
        }
        told = text("response", f"{who['name']} flies {who['class']}.")
        return Reply([Say([told, data("a2ui-surface", {"messages": [cheaper]})])])
    if action is not None:
        said = data("a2ui-surface", {"messages": changed(action["name"], action["context"])})
        return Reply([Say([said])])
    if "report" in conversation.text:
        return Reply([Say([text("response", "Here it is."), data("a2ui-surface", {"messages": report()})])])
    body = {"surfaceId": "list", "catalogId": BASIC, "components": COMPONENTS, "dataModel": FIRST}
    made = data("a2ui-surface", {"version": "1.0", "createSurface": body})
    return Reply([Say([text("response", "Here is the list."), made])])


actors.register(Actor("keeper", "Kim", "list keeper", "You keep a list.", lambda: ScriptedProvider(script)))
