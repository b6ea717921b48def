"""Citations as they are checked: what points to no data is told to the model and marked for staff, and costs nothing
else of its call (D10)."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.admin.sentences import sentence
from envelopes.providers.scripted import Call, Reply, Say, data, text
from envelopes.registries.slots import Slot
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json, JsonObject
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

FLIGHTS = {"flights": [{"price": 94}, {"price": 187}]}


class Nothing(BaseModel):
    pass


def cite(**said: Any) -> JsonObject:
    about = {key: said.pop(key) for key in ("slotKey", "dataKind") if key in said}
    return data("citation", said, **about)


async def reported(d: Desk) -> list[JsonObject]:
    """What the model was told of its citations."""
    (turn,) = await d.turns()
    return [entry for result in turn.results.values() for entry in result["ok"].get("unbound", [])]


@pytest.mark.parametrize("order", ["data first", "citation first"])
async def test_what_is_there_is_not_spoken_of(order: str) -> None:
    parts = [data("domain-data", FLIGHTS), cite(path="/flights/1/price", title="T")]
    async with desk(
        replies([Say([text("response", "Two."), *(parts if order == "data first" else parts[::-1])])])
    ) as d:
        await d.say("Flights")
        assert await reported(d) == []
        (row,) = await d.rows("part", "citation")
        assert "unbound" not in row.data


WRONG = {
    "no such place": (cite(path="/flights/7/price", title="T"), "NO_DATA_AT_PATH"),
    "no pointer": (cite(path="flights", title="T"), "NO_DATA_AT_PATH"),
    "no path": (cite(title="T"), "NO_DATA_AT_PATH"),
    "a path of another shape": (cite(path=["flights", 0], title="T"), "NO_DATA_AT_PATH"),
    "another slot": (cite(path="/flights", title="T", dataKind="hotels"), "NO_DATA_AT_PATH"),
    "no source": (cite(path="/flights/0"), "NO_SOURCE"),
    "another shape": (cite(source={"name": "x"}, at=3), "NO_SOURCE"),
    "a title of another shape": (cite(path="/flights/0", title={"en": "T"}), "NO_SOURCE"),
    "a long path": (cite(path="/a" * 5_000, title="T"), "NO_DATA_AT_PATH"),
}


@pytest.mark.parametrize(("part", "code"), WRONG.values(), ids=list(WRONG))
async def test_what_is_not_is_told_and_marked_and_the_rest_of_the_call_is_there(
    part: JsonObject, code: str
) -> None:
    said = [text("response", "Two."), data("domain-data", FLIGHTS, dataKind="flights"), part]
    async with desk(replies([Say(said)])) as d:
        await d.say("Flights")
        (told,) = await reported(d)
        assert (told["part"], told["code"]) == ("/parts/2", code)
        (row,) = await d.rows("part", "citation")
        assert row.data["unbound"] == told["message"]
        assert told["message"] in sentence(row)
        assert await d.texts() == ["Two."]
        assert await d.rows("refused") == []
        assert (await d.turns())[0].turn_state == "complete"


async def test_data_of_earlier_calls_and_of_tools_count_and_those_of_earlier_turns_do_not() -> None:
    async def find(context: ToolContext, args: Nothing) -> Json:
        return FLIGHTS

    tool = Tool("find", "", Nothing, find, data_kind="flights")
    script = replies(
        Reply(
            [Say([data("domain-data", {"a": 1}), text("ack", "One moment.")], "awaiting"), Call("find", {})]
        ),
        Reply(
            [Say([text("response", "Two."), cite(path="/flights/0", title="T"), cite(path="/a", title="U")])]
        ),
        Reply([Say([text("response", "Still."), cite(path="/a", title="U")])]),
    )
    async with desk(script, tool) as d:
        await d.say("Flights")
        await d.say("Again")
        marks = [row.data.get("unbound") for row in await d.rows("part", "citation")]
        assert marks[:2] == [None, None]
        assert "nothing at '/a'" in str(marks[2])


async def test_what_earlier_turns_have_said_for_a_slot_counts_where_this_one_adds_to_it() -> None:
    def adds(price: int, at: int, **more: Any) -> list[Any]:
        piece = data("domain-data", {"flights": [{"price": price}]}, dataKind="flights")
        return [Say([piece, text("response", "More."), cite(path=f"/flights/{at}/price", title="T", **more)])]

    script = replies(adds(94, 0), adds(187, 1), adds(12, 3, slotKey="found"))
    async with desk(script, slots=(Slot("flights", key="found", strategy="append"),)) as d:
        for words in ("One", "Two", "Three"):
            await d.say(words)
        marks = [row.data.get("unbound") for row in await d.rows("part", "citation")]
        assert marks[:2] == [None, None]
        assert "nothing at '/flights/3/price'" in str(marks[2])


async def test_a_tool_that_cites_is_marked_as_well() -> None:
    async def find(context: ToolContext, args: Nothing) -> Json:
        await context.emit(data("domain-data", FLIGHTS), cite(path="/flights/9", title="T"))
        return {}

    script = replies([Call("find", {})], [Say([text("response", "Two.")])])
    async with desk(script, Tool("find", "", Nothing, find)) as d:
        await d.say("Flights")
        (row,) = await d.rows("part", "citation")
        assert "/flights/9" in row.data["unbound"]
