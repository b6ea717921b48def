"""What a tool gave, shown by reference: the model writes the place, people see the data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.models import ToolCall
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import Tool
from envelopes.runtime.respond_stream import RespondStream, TextGrown
from envelopes.types import Json
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

CATALOG = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
FOUND = {
    "flights": [{"id": f"EJ{number}", "price": 90 + number} for number in range(20)],
    "day": "2027-08-15",
}
LIST = [
    {"id": "root", "component": "List", "children": {"componentId": "row", "path": "/flights"}},
    {"id": "row", "component": "Text", "text": {"@path": "id"}},
]


class Nothing(BaseModel):
    pass


async def search(context: object, args: Nothing) -> Json:
    return FOUND


SEARCH = Tool("search", "", Nothing, search, data_kind="flights")


def card(**reference: Any) -> Say:
    body = {"surfaceId": "s", "catalogId": CATALOG, "components": LIST, "dataModel": {"flights": reference}}
    shown = data("a2ui-surface", {"version": "1.0", "createSurface": body})
    return Say([text("response", "Here they are."), shown])


async def test_a_surface_shows_what_a_tool_gave_and_its_model_reads_the_reference() -> None:
    async with desk(replies([Call("search", {})], [card(fromCall="search", path="/flights")]), SEARCH) as d:
        await d.say("Flights?")
        html = await d.html()
        assert "EJ0" in html and "EJ19" in html
        (part,) = await d.parts("a2ui-surface")
        assert part["data"]["createSurface"]["dataModel"] == {"flights": FOUND["flights"]}
        (turn,) = await d.turns()
        (written,) = turn.messages[-1]["content"]
        assert "EJ0" not in json.dumps(written) and '"fromCall": "search"' in json.dumps(written)


async def test_the_runtime_shows_data_of_a_kind_by_itself_and_says_so_in_the_prompt() -> None:
    async with desk(replies([Call("search", {})], [Say([text("response", "Twenty.")])]), SEARCH) as d:
        await d.say("Flights?")
        (part,) = await d.parts("domain-data")
        assert (part["data"], part["metadata"]["dataKind"]) == (FOUND, "flights")
        assert "search (flights)" in d.requests[0].system


async def test_a_reference_by_the_id_of_the_call_and_a_wrong_one_is_told() -> None:
    def script(request: ModelRequest) -> Reply:
        conversation = Conversation(request)
        if conversation.result("search") is None:
            return Reply([Call("search", {})])
        if "is_error" not in json.dumps(request.messages[-1]):
            return Reply([card(fromCall="serach", path="/flights")])
        call_id = request.messages[1]["content"][0]["id"]
        return Reply([card(fromCall=call_id, path="/flights")])

    async with desk(script, SEARCH) as d:
        await d.say("Flights?")
        (refused,) = await d.rows("refused")
        error = refused.data["error"]
        assert error["path"] == "/parts/1/data/createSurface/dataModel/flights/fromCall"
        assert (error["reason"], error["allowed"]) == ("unknown_call", ["search"])
        assert await d.texts() == ["Here they are."]
        assert "EJ19" in await d.html()


async def test_a_call_that_has_failed_has_no_result_to_refer_to() -> None:
    async def broken(context: object, args: Nothing) -> Json:
        raise RuntimeError("gone")

    tool = Tool("search", "", Nothing, broken)
    script = replies([Call("search", {})], [card(fromCall="search")], [Say([text("response", "Sorry.")])])
    async with desk(script, tool) as d:
        await d.say("Flights?")
        (refused,) = await d.rows("refused")
        assert (refused.data["error"]["reason"], "failed" in refused.data["error"]["message"]) == (
            "no_result",
            True,
        )
        assert await ToolCall.objects.acount() == 1


async def test_calls_of_earlier_turns_are_not_known_any_more() -> None:
    script = replies(
        [Call("search", {})],
        [Say([text("response", "Twenty.")])],
        [card(fromCall="search")],
        [Say([text("response", "I have to look again.")])],
    )
    async with desk(script, SEARCH) as d:
        await d.say("Flights?")
        await d.say("Show them")
        (refused,) = await d.rows("refused")
        assert refused.data["error"]["reason"] == "unknown_call"


async def test_what_a_reference_brings_is_bounded(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"trusted_message_bytes": 1_000}
    small = Say([text("response", "Too many.")])
    refers = Say([data("domain-data", {"all": {"fromCall": "search"}, "again": {"fromCall": "search"}})])
    async with desk(replies([Call("search", {})], [refers], [small]), SEARCH) as d:
        await d.say("Flights?")
        (refused,) = await d.rows("refused")
        assert (refused.data["error"]["reason"], refused.data["error"]["limit"]) == ("too_large", 1_000)


def test_text_before_and_behind_a_reference_streams_as_ever() -> None:
    call = {
        "parts": [
            {"metadata": {"partType": "response"}, "text": "First."},
            {"metadata": {"partType": "domain-data"}, "data": {"fromCall": "search", "path": "/text"}},
            {"metadata": {"partType": "response"}, "text": "Second."},
        ],
        "turnState": "complete",
    }
    raw = json.dumps(call)
    stream = RespondStream()
    grown = [one for at in range(0, len(raw), 3) for one in stream.feed(raw[at : at + 3])]

    assert {one.part for one in grown} == {0, 2} and all(isinstance(one, TextGrown) for one in grown)
    assert len(grown) > 3
    assert stream.close(raw) == call
