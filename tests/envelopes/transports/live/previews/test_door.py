"""A subscriber sees an interface while it is written, and then the interface (8.2)."""

from __future__ import annotations

import json

import pytest

from envelopes.providers.scripted import Raw, Say, data, text
from envelopes.transports.live.previews import preview_violations
from envelopes.types import JsonObject
from tests.desk import replies
from tests.envelopes.transports.live.client import Channel, live

pytestmark = pytest.mark.django_db(transaction=True)

BASIC = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
ROWS = [{"id": "root", "component": "Column", "children": [f"t{n}" for n in range(40)]}]
ROWS += [{"id": f"t{n}", "component": "Text", "text": f"Line {n}"} for n in range(40)]
SURFACE = {"version": "1.0", "createSurface": {"surfaceId": "s", "catalogId": BASIC, "components": ROWS}}
SAID = Say([text("response", "Here it is."), data("a2ui-surface", SURFACE)])


def previewed(frames: list[JsonObject]) -> list[JsonObject]:
    return [
        frame["payload"]
        for frame in frames
        if frame["type"] == "data" and frame["payload"].get("channel") == "_ggui:preview"
    ]


async def test_the_picture_comes_first_and_ends_before_the_surface() -> None:
    async with live(replies([SAID]), pace=8000) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        await channel.act(session, "beach:message", {"text": "Show me"})
        await channel.settled()
        await channel.close()

        told = previewed(channel.frames)
        assert len(told) > 3
        assert [fault for one in told for fault in preview_violations(one["payload"])] == []
        assert all("seq" not in one and one["mode"] == "append" for one in told)
        assert next(iter(told))["payload"]["createSurface"]["surfaceId"].startswith("beach:preview/")
        rows = [row for one in told[1:-1] for row in one["payload"]["updateComponents"]["components"]]
        assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
        assert (told[-1]["payload"], told[-1]["complete"]) == (None, True)
        assert [one for one in told if "complete" in one] == told[-1:]
        order = [frame["payload"].get("channel", "") for frame in channel.frames if frame["type"] == "data"]
        surface = next(place for place, name in enumerate(order) if name.startswith("beach:surface/"))
        assert order.index("_ggui:preview") < surface
        assert len(order) - 1 - order[::-1].index("_ggui:preview") < surface


async def test_the_picture_of_a_refused_call_goes() -> None:
    refused = SAID.parts[1] | {"unknown": "key"}
    raw = Raw(json.dumps({"parts": [refused], "turnState": "no such state"}))
    async with live(replies([raw], [Say([text("response", "Sorry.")])]), pace=8000) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        await channel.act(session, "beach:message", {"text": "Show me"})
        await channel.settled()
        await channel.close()

        told = previewed(channel.frames)
        assert (told[-1]["payload"], told[-1]["complete"]) == (None, True)
        assert not any(name.startswith("beach:surface/") for name in (one["channel"] for one in channel.data))
