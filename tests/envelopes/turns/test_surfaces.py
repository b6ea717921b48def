"""Surfaces of an actor on their way into the log: tried first, and room is made for them."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Conversation, Reply, Say, text
from envelopes.session_state import live_sessions
from envelopes.types import JsonObject
from tests.desk import Desk, desk

pytestmark = pytest.mark.django_db(transaction=True)

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"


def _card(surface_id: str) -> JsonObject:
    root = {"id": "root", "component": "Text", "text": f"This is {surface_id}"}
    messages = [
        {"version": "v0.9", "createSurface": {"surfaceId": surface_id, "catalogId": BASIC}},
        {"version": "v0.9", "updateComponents": {"surfaceId": surface_id, "components": [root]}},
    ]
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": messages}}


def _new_card_each_turn(request: ModelRequest) -> Reply:
    wanted = Conversation(request).text.split()
    return Reply([Say([text("response", "Here."), *(_card(surface_id) for surface_id in wanted)])])


async def _shown(d: Desk) -> list[str]:
    def read() -> list[str]:
        with live_sessions.open(d.session) as view:
            return [surface.id for surface in view.surfaces]

    return await sync_to_async(read)()


@pytest.fixture
def three(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"surfaces": 3}


async def test_a_long_conversation_goes_on_showing_cards(three: None) -> None:
    """The oldest card is closed for a new one; before, every further card was refused for good."""
    async with desk(_new_card_each_turn) as d:
        for surface_id in ("a", "b", "c", "d", "e"):
            await d.say(surface_id)
        assert await _shown(d) == ["c", "d", "e"]
        assert [turn.finalized_by for turn in await d.turns()] == ["complete"] * 5
        assert await d.rows("refused") == []


async def test_closing_is_told_to_the_person_the_log_and_the_model(three: None) -> None:
    async with desk(_new_card_each_turn) as d:
        for surface_id in ("a", "b", "c", "d"):
            await d.say(surface_id)
        html = await d.html()
        assert "This is a" not in html
        assert html.count("This card was closed.") == 1
        (told,) = await d.rows("diagnostic")
        assert (told.data["code"], told.data["surfaceId"]) == ("SURFACE_RETIRED", "a")
        rows = await d.rows("part", "a2ui-surface")
        assert [list(row.data["part"]["data"]) for row in rows[-2:]] == [
            ["version", "deleteSurface"],
            ["messages"],
        ]


async def test_a_card_that_the_call_itself_speaks_of_is_not_the_one_that_goes(three: None) -> None:
    def script(request: ModelRequest) -> Reply:
        words = Conversation(request).text
        if words != "change":
            return _new_card_each_turn(request)
        root = {"id": "root", "component": "Text", "text": "Changed"}
        update = {"version": "v0.9", "updateComponents": {"surfaceId": "a", "components": [root]}}
        part = {"metadata": {"partType": "a2ui-surface"}, "data": update}
        return Reply([Say([text("response", "Done."), part, _card("d")])])

    async with desk(script) as d:
        await d.say("a b c")
        await d.say("change")
        assert await _shown(d) == ["a", "c", "d"]


async def test_a_call_with_more_cards_than_there_may_be_is_refused_and_closes_none(three: None) -> None:
    async with desk(_new_card_each_turn) as d:
        await d.say("a")
        await d.say("w x y z")
        assert await _shown(d) == ["a"]
        assert (await d.rows("refused"))[0].data["error"]["a2ui"] == "budget_exceeded"


async def test_x3_a_card_in_an_older_version_makes_room_as_well(three: None) -> None:
    """v0.8 has no createSurface: its surfaces come into being with the first message that names them."""

    def script(request: ModelRequest) -> Reply:
        (wanted,) = Conversation(request).text.split()
        component = {"id": "t", "component": {"Text": {"text": {"literalString": f"This is {wanted}"}}}}
        messages = [
            {"surfaceUpdate": {"surfaceId": wanted, "components": [component]}},
            {"beginRendering": {"surfaceId": wanted, "root": "t"}},
        ]
        part = {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": messages}}
        return Reply([Say([text("response", "Here."), part])])

    async with desk(script) as d:
        for surface_id in ("a", "b", "c", "d"):
            await d.say(surface_id)
        assert await _shown(d) == ["b", "c", "d"]
        assert await d.rows("refused") == []
