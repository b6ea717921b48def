"""Surfaces that call functions of their agent, from the row that makes a call due to the value on the page."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pydantic import BaseModel

from a2ui.functions.pending import PENDING_TEXT
from envelopes import intake
from envelopes.errors import RegistrationError
from envelopes.models import AgentCall
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, text
from envelopes.registries.catalogs import Own, catalogs
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.session_state import live_sessions
from envelopes.turns.agent_calls import MAX_HOPS
from envelopes.types import Json, JsonObject
from tests.a2ui.asking import CATALOG, SHOP, ask, path
from tests.a2ui.programs import row
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def shop() -> Iterator[None]:
    with catalogs.including(Own(CATALOG.id, CATALOG)):
        yield
    live_sessions.clear()


class Question(BaseModel):
    q: Json = None


def _tool(run: Any, **more: Any) -> Tool:
    return Tool(
        name="look_up", description="Looks a price up.", input=Question, run=run, answers="ask", **more
    )


def _surface(*messages: JsonObject) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": [*messages]}}


def _made(*rows: JsonObject, model: Json = None) -> JsonObject:
    body: JsonObject = {"surfaceId": "s", "catalogId": SHOP, "components": [*rows], "dataModel": model or {}}
    return {"version": "1.0", "createSurface": body}


PRICE = row("root", "Column", children=["t", "f"])
ROWS = (
    PRICE,
    row("t", "Text", text=ask(q=path("/sku"))),
    row("f", "TextField", label="S", value=path("/sku")),
)
CARD = _surface(_made(*ROWS, model={"sku": "A1"}))
DELETED = _surface({"version": "1.0", "deleteSurface": {"surfaceId": "s"}})


def shows(*following: JsonObject) -> Any:
    """A script: the first turn shows the card, the next ones what follows."""
    return replies(*[[Say([one])] for one in (CARD, *following, text("response", "Done."))])


async def _until(condition: Any) -> None:
    async with asyncio.timeout(30):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)


async def _calls(d: Desk) -> list[AgentCall]:
    return await sync_to_async(lambda: list(AgentCall.objects.filter(session=d.session)))()


async def _answered(d: Desk) -> bool:
    return not await _calls(d)


@pytest.fixture
async def gate() -> asyncio.Event:
    return asyncio.Event()


async def test_a_tool_answers_beside_the_turn_and_its_value_replaces_the_mark(gate: asyncio.Event) -> None:
    asked: list[Json] = []

    async def look_up(context: ToolContext, args: Question) -> Json:
        asked.append(args.q)
        await gate.wait()
        return f"{args.q}: 12 euros"

    async with desk(shows(), _tool(look_up)) as d:
        await d.say("Show it", wait=False)
        await _until(lambda: sync_to_async(bool)(asked))
        await _until(lambda: _settled(d))
        assert f">{PENDING_TEXT}</div>" in await d.html()

        # Nothing else waits for it.
        await d.say("And now?", wait=False)
        await _until(lambda: _settled(d, 2))
        gate.set()
        await _until(lambda: _answered(d))

        assert ">A1: 12 euros</div>" in await d.html()
        kinds = [one.kind for one in await d.rows() if one.kind.startswith("agent-")]
        assert kinds == ["agent-call", "agent-answer"]
        (call,) = await d.rows("agent-call")
        assert call.data["messages"][0]["callAgentFunction"]["functionCallId"] == "a1-f1"


async def _settled(d: Desk, count: int = 1) -> bool:
    return len(await d.rows("settled")) >= count


async def test_without_a_tool_the_agent_is_asked_in_a_turn_and_answers_in_a_part() -> None:
    answer = _surface(
        {"version": "1.0", "agentFunctionResponse": {"functionCallId": "a1-f1", "value": "12 euros"}}
    )

    async with desk(shows(answer)) as d:
        await d.say("Show it")

        assert ">12 euros</div>" in await d.html()
        assert await _calls(d) == []
        first, second = await d.turns()
        assert second.trigger["injection"] == "agent-function-calls"
        assert second.originators == first.originators
        told = json.dumps(d.requests[1].messages[-1])
        assert "callAgentFunction" in told
        assert "a1-f1" in told


async def test_an_answer_with_an_unknown_id_is_refused_and_changes_nothing() -> None:
    wrong = _surface({"version": "1.0", "agentFunctionResponse": {"functionCallId": "a1-f9", "value": "x"}})

    async with desk(shows(wrong)) as d:
        await d.say("Show it")

        (refused,) = await d.rows("refused")
        assert refused.data["error"]["a2ui"] == "INVALID_FUNCTION_CALL"
        assert [call.call_id for call in await _calls(d)] == ["a1-f1"]
        assert f">{PENDING_TEXT}</div>" in await d.html()


async def test_a_call_that_waits_too_long_is_answered_with_timeout() -> None:
    async with desk(shows(text("response", "No idea."))) as d:
        await d.say("Show it")
        past = timezone.now() - timedelta(seconds=1)
        await sync_to_async(AgentCall.objects.update)(deadline=past)
        await _until(lambda: _answered(d))

        (row_,) = await d.rows("agent-answer")
        body = row_.data["message"]["agentFunctionResponse"]
        assert body["error"] == {"code": "TIMEOUT", "message": "No answer within 30 seconds."}
        assert row_.data["source"] == "timeout"
        assert PENDING_TEXT not in await d.html()


async def test_a_turn_whose_calls_are_over_when_it_begins_asks_no_model() -> None:
    both = {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": [_made(*ROWS)]}}
    script = replies([Say([both], "awaiting")], [Say([DELETED])])

    async with desk(script) as d:
        await d.say("Show it and take it away")

        assert len(d.requests) == 2
        assert [(turn.status, turn.finalized_by) for turn in await d.turns()] == [("settled", "complete")] * 2
        assert await _calls(d) == []


async def test_a_call_goes_with_its_surface_and_its_tool_ends(gate: asyncio.Event) -> None:
    ended = asyncio.Event()
    begun = asyncio.Event()

    async def look_up(context: ToolContext, args: Question) -> Json:
        begun.set()
        try:
            await gate.wait()
        finally:
            ended.set()
        return "late"

    async with desk(shows(DELETED), _tool(look_up)) as d:
        await d.say("Show it", wait=False)
        await asyncio.wait_for(begun.wait(), 30)
        await _until(lambda: _settled(d))
        await d.say("Away with it", wait=False)
        await _until(lambda: _settled(d, 2))

        assert await _calls(d) == []
        await asyncio.wait_for(ended.wait(), 30)
        assert await d.rows("agent-answer") == []


async def test_a_persons_edit_asks_anew_and_what_was_asked_before_is_not_asked_again() -> None:
    asked: list[Json] = []

    async def look_up(context: ToolContext, args: Question) -> Json:
        asked.append(args.q)
        return f"price of {args.q}"

    async with desk(shows(), _tool(look_up)) as d:
        await d.say("Show it", wait=False)
        await _until(lambda: _settled(d))
        await _until(lambda: _answered(d))
        for sku in ("B2", "A1"):
            await d.edit("a1-2", sku)
            await _until(lambda: _answered(d))

        assert asked == ["A1", "B2"]
        assert ">price of A1</div>" in await d.html()


@pytest.mark.parametrize(
    ("run", "code"),
    [
        ("raises", "EXECUTION_ERROR"),
        ("large", "budget_exceeded"),
    ],
)
async def test_what_goes_wrong_in_a_tool_is_the_answer(run: str, code: str) -> None:
    async def look_up(context: ToolContext, args: Question) -> Json:
        if run == "raises":
            raise RuntimeError("secret")
        return "x" * 200_000

    async with desk(shows(), _tool(look_up)) as d:
        await d.say("Show it", wait=False)
        await _until(lambda: _settled(d))
        await _until(lambda: _answered(d))

        (answer,) = await d.rows("agent-answer")
        error = answer.data["message"]["agentFunctionResponse"]["error"]
        assert error["code"] == code
        assert "secret" not in error["message"]


async def test_arguments_that_the_tool_does_not_take_are_told() -> None:
    class Number(BaseModel):
        q: int

    async def look_up(context: ToolContext, args: Number) -> Json:
        raise AssertionError

    tool = Tool(name="look_up", description="x", input=Number, run=look_up, answers="ask")
    async with desk(shows(), tool) as d:
        await d.say("Show it", wait=False)
        await _until(lambda: _settled(d))
        await _until(lambda: _answered(d))

        (answer,) = await d.rows("agent-answer")
        assert answer.data["message"]["agentFunctionResponse"]["error"]["code"] == "INVALID_FUNCTION_CALL"


async def test_who_joins_late_sees_the_same_html_as_who_was_there() -> None:
    async def look_up(context: ToolContext, args: Question) -> Json:
        return f"*{args.q}*"

    async with desk(shows(), _tool(look_up)) as d:
        await d.html()
        await d.say("Show it", wait=False)
        await _until(lambda: _settled(d))
        await _until(lambda: _answered(d))
        await d.edit("a1-2", "B2")
        await _until(lambda: _answered(d))
        there = await d.html()
        live_sessions.clear()

        assert await d.html() == there


async def test_an_agent_that_calls_a_function_of_ours_goes_on_to_hear_what_it_gave() -> None:
    call = {"@call": "total", "catalogId": SHOP, "args": {"prices": path("/prices")}}
    asked = {
        "version": "1.0",
        "callRendererFunction": {"functionCallId": "c1", "surfaceId": "s", "callFunction": call},
    }
    created = _made(row("root", "Text", text="x"), model={"prices": [1, 2]})

    def script(request: ModelRequest) -> Reply:
        if Conversation(request).replies == 0:
            return Reply([Say([_surface(created, asked)])])
        return Reply([Say([text("response", "Three.")])])

    async with desk(script) as d:
        await d.say("Add them up")

        (row_,) = await d.rows("renderer-answer")
        assert row_.audience == "audit"
        answer = {"version": "1.0", "rendererFunctionResponse": {"functionCallId": "c1", "value": 3}}
        assert row_.data["message"] == answer
        assert '"rendererFunctionResponse"' in str(d.requests[1].messages[-1])
        assert await d.texts() == ["Three."]
        assert len(await d.turns()) == 1


async def test_a_click_calls_a_function_of_the_agent_and_a_second_one_waits(gate: asyncio.Event) -> None:
    asked: list[Json] = []

    async def look_up(context: ToolContext, args: Question) -> Json:
        asked.append(args.q)
        await gate.wait()
        return "done"

    button = row("root", "Button", child="l", action={"functionCall": ask(q="now")})
    card = _surface(_made(button, row("l", "Text", text="Go")))
    async with desk(replies([Say([card])]), _tool(look_up)) as d:
        await d.say("Show it")
        press = sync_to_async(intake.post_action)
        await press(d.session, d.owner, "click-1", "a1-0")
        await _until(lambda: sync_to_async(bool)(asked))
        with pytest.raises(intake.SurfaceRefused) as refused:
            await press(d.session, d.owner, "click-2", "a1-0")
        assert refused.value.code == "pending"
        # Sent again, the first one is answered and not run again.
        assert (await press(d.session, d.owner, "click-1", "a1-0"))["repeated"]
        gate.set()
        await _until(lambda: _answered(d))
        await press(d.session, d.owner, "click-3", "a1-0")
        await _until(lambda: _answered(d))

        assert asked == ["now", "now"]
        assert len(await d.rows("agent-answer")) == 2
        assert await d.rows("action") == []


@pytest.mark.parametrize("shown", [True, False])
async def test_a_job_that_changes_what_is_asked_makes_the_call_with_its_row(shown: bool) -> None:
    asked: list[Json] = []

    async def look_up(context: ToolContext, args: Question) -> Json:
        asked.append(args.q)
        return f"price of {args.q}"

    async def fill(context: ToolContext, args: Question) -> Json:
        for sku in ("B2", "C3"):
            value = {"surfaceId": "s", "path": "/sku", "value": sku}
            given = await context.emit(_surface({"version": "1.0", "updateDataModel": value}))
            assert given == []
        call = {"@call": "total", "catalogId": SHOP, "args": {"prices": [2, 3]}}
        body = {"functionCallId": "c1", "callFunction": call}
        (given,) = await context.emit(_surface({"version": "1.0", "callRendererFunction": body}))
        return given["rendererFunctionResponse"]["value"]

    filling = Tool(name="fill", description="Fills.", input=Question, run=fill)
    script = replies(
        [Say([CARD], "awaiting")], [Call("fill", {"q": "x"})], [Say([text("response", "Done.")])]
    )
    async with desk(script, _tool(look_up), filling) as d:
        if shown:
            await d.html()
        await d.say("Show it", wait=False)
        await _until(lambda: _settled(d))
        await _until(lambda: _answered(d))

        assert asked == ["A1", "B2", "C3"]
        rows = [one.kind for one in await d.rows() if one.kind in {"part", "agent-call", "renderer-answer"}]
        assert rows == ["part", "agent-call"] * 3 + ["part", "renderer-answer", "part"]
        (result,) = await d.rows("tool-result")
        assert result.data["result"] == 5
        assert ">price of C3</div>" in await d.html()


async def test_calls_that_come_of_answers_open_so_many_turns_and_no_more() -> None:
    """A model that changes the data each time it answers asks itself for ever."""

    def script(request: ModelRequest) -> Reply:
        conversation = Conversation(request)
        found = re.findall(r"functionCallId\W+(a1-f\d+)", str(request.messages[-1]))
        if not found:
            return Reply([Say([CARD])]) if conversation.text else Reply([Say([text("response", "?")])])
        answer = {
            "version": "1.0",
            "agentFunctionResponse": {"functionCallId": found[-1], "value": found[-1]},
        }
        data = {"surfaceId": "s", "path": "/sku", "value": found[-1]}
        return Reply([Say([_surface(answer, {"version": "1.0", "updateDataModel": data})])])

    async with desk(script) as d:
        await d.say("Show it")

        assert len(await d.turns()) == 1 + MAX_HOPS
        assert len(await _calls(d)) == 1


@pytest.mark.parametrize("wrong", [
    {"approval": ApprovalPolicy(question=lambda args: "?")}, {"background": True}, {"idempotent": False},
])  # fmt: skip
def test_a_tool_that_answers_interfaces_needs_no_person_and_may_run_twice(wrong: Any) -> None:
    async def look_up(context: ToolContext, args: Question) -> Json:
        return None

    with pytest.raises(RegistrationError):
        _tool(look_up, **wrong)
