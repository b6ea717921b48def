"""Replies that an API may send and that nobody would expect: each turn ends, people read what was said once, and what
was taken is counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.conf import conf
from envelopes.costs import taken
from envelopes.fakes import FakeMessagesApi, Recorded, Reply
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.runtime import model_retries
from envelopes.types import Json
from tests.desk import desk, replies
from tests.envelopes.runtime.test_hostile_streams import (
    AWAITING,
    NOTE,
    OK,
    RawMessages,
    begin,
    block,
    end,
    grow,
    model,
    sse,
    start,
    stop,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_retries, "FIRST_SECONDS", 0.002)


async def test_a_respond_beside_calls_of_which_one_waits_for_people() -> None:
    class Sum(BaseModel):
        euros: int

    async def pay(context: ToolContext, args: Sum) -> Json:
        return {"paid": args.euros}

    policy = ApprovalPolicy(question=lambda args: f"Pay {args.euros}?")
    raw = (
        start()
        + block(AWAITING, 0, call_id="toolu_a")
        + block('{"euros": 7}', 1, "pay", "toolu_b")
        + block('{"text": "x"}', 2, "note", "toolu_c")
        + end()
    )
    async with RawMessages(raw=[raw]) as api:

        def provider(_: Any) -> Any:
            return AnthropicProvider("key", "claude-test", base_url=api.base_url)

        tool = Tool("pay", "Pays.", Sum, pay, approval=policy)
        async with desk(replies([]), NOTE, tool, provider=provider) as d:
            await d.say("Pay")
            states = {call.name: call.state for call in await d.calls()}
            assert states == {"pay": "awaiting-approval", "note": "succeeded"}
            assert await d.texts("ack") == ["Looking."]
            await d.decide("granted")
            assert await d.texts() == ["Fine."] and await d.texts("ack") == ["Looking."]
            (turn,) = await d.turns()
            assert turn.finalized_by == "complete" and api.problems == []
        await close_clients()


@pytest.mark.parametrize("name", ["Respond", "RESPOND", "respond ", "Note"])
async def test_a_name_in_another_case_is_another_tool_and_the_model_is_told(name: str) -> None:
    raw = start() + block(OK if "espond" in name.lower() else "{}", 0, name) + end()
    async with model(RawMessages, raw) as (d, api):
        await d.say("Hello")
        (refused,) = await d.rows("refused")
        assert await d.texts() == ["Fine."] and await d.calls() == []

    assert "There is no tool" in refused.data["error"]["message"] and len(api.requests) == 2
    assert api.problems == []


THINKS = (
    sse("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""})
    + sse("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "Hm."})
    + stop()
)


@pytest.mark.parametrize(
    "raw",
    [
        start() + end("end_turn"),
        start() + THINKS + end("end_turn"),
        start() + begin() + grow(OK[:40]) + stop() + end("max_tokens"),
        start() + begin() + grow(OK[:40]) + end("max_tokens"),
    ],
    ids=["empty", "only thinking", "a respond that is cut, and ended", "a respond that is cut"],
)
async def test_a_reply_without_a_word_for_people_is_corrected_a_few_times(raw: str) -> None:
    async with model(RawMessages, raw) as (d, api):
        await d.say("Hello")
        assert await d.texts() == ["Fine."] and api.problems == []
        html = await d.html()
        assert html.count("Fine.") == 1 and "data-live" not in html
    async with model(RawMessages, *[raw] * 10) as (d, api):
        await d.say("Hello")
        # One that is cut is corrected for that, and for what was wrong with its call.
        assert await d.texts() == [] and 1 < len(api.requests) <= conf.BEACH_MAX_CORRECTIONS + 1
        (error,) = await d.parts("error")
        assert error["data"]["code"] == "model_misbehaved" and api.problems == []
        await d.say("And again?")


@pytest.mark.parametrize(
    ("usage", "ended"),
    [
        (0, 0),
        ({"input_tokens": -5, "output_tokens": -5}, {"output_tokens": -1}),
        ({"input_tokens": 10**30, "output_tokens": 1}, {"output_tokens": 10**30}),
        ({"input_tokens": "many"}, {"output_tokens": None}),
    ],
    ids=["missing", "below zero", "huge", "words"],
)
async def test_usage_that_nobody_can_have_counted_is_estimated(usage: Any, ended: Any) -> None:
    async with model(RawMessages, start(usage) + block(OK) + end(usage=ended)) as (d, _):
        await d.say("Hello")
        (row,) = await d.rows("provider")
        (turn,) = await d.turns()
        assert await d.texts() == ["Fine."]

    assert row.data["estimated"] is True and 500 < row.data["usage"]["input_tokens"] < 50_000
    assert 10 < row.data["usage"]["output_tokens"] < 200
    assert turn.tokens == taken(row.data["usage"]).total


async def test_a_hundred_thousand_empty_deltas_are_nothing() -> None:
    empty = grow("") * 100_000
    text = sse("content_block_delta", index=0, delta={"type": "text_delta", "text": ""}) * 1_000
    async with model(RawMessages, start() + begin() + empty + text + grow(OK) + stop() + end()) as (d, api):
        await d.say("Hello")
        (row,) = await d.rows("provider")
        assert await d.texts() == ["Fine."] and len(api.requests) == 1

    assert row.data["usage"]["output_tokens"] == 5


EVENTS = [
    start(),
    begin(),
    *(grow(OK[at : at + 9]) for at in range(0, len(OK), 9)),
    stop(),
    *(f"{event}\n\n" for event in end().strip().split("\n\n")),
]


@dataclass
class Resets(FakeMessagesApi):
    """Sends so many events of a good reply, and then resets the connection; the second reply is whole."""

    after: int = 0
    sent: list[int] = field(default_factory=list)

    async def written(self, recorded: Recorded, reply: Reply) -> AsyncIterator[str | None]:
        count = len(EVENTS) if self.sent else self.after
        self.sent.append(count)
        for event in EVENTS[:count]:
            yield event
            await asyncio.sleep(0)
        if count < len(EVENTS):
            yield None


@pytest.mark.parametrize("after", range(len(EVENTS)))
async def test_a_connection_that_is_reset_after_any_event_costs_nobody_a_word(after: int) -> None:
    async with Resets(after=after) as api:

        def provider(_: Any) -> Any:
            return AnthropicProvider("key", "claude-test", base_url=api.base_url)

        async with desk(replies([]), provider=provider) as d:
            await d.say("Hello")
            html = await d.html()
            rows = await d.rows("provider")
            (turn,) = await d.turns()
            assert await d.texts() == ["Fine."], "once, however much of it had come"
        await close_clients()

    assert html.count("Fine.") == 1 and "data-live" not in html
    assert (turn.status, turn.finalized_by) == ("settled", "complete") and api.problems == []
    spent = sum(taken(row.data.get("usage")).total for row in rows)
    assert turn.tokens == spent and len(api.requests) <= 2
