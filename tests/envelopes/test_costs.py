"""What replies took and cost: of each, of turns, conversations, days and people, and the bounds on it."""

from __future__ import annotations

import asyncio
from collections import deque
from io import StringIO
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import call_command
from pydantic import BaseModel

from envelopes import costs, intake
from envelopes.admin import today
from envelopes.admin.conversation.rows import near
from envelopes.admin.sentences import sentence
from envelopes.conf import problems
from envelopes.delivery.deltas import deltas
from envelopes.fakes import (
    FakeChatApi,
    FakeMessagesApi,
    Reply,
    Text,
    Thinking,
    call,
    overloaded,
    respond,
    said,
)
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.providers.openai import OpenAIProvider
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

PRICES = {"claude-test": {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}}
USAGE = {
    "input_tokens": 1_000,
    "cache_read_input_tokens": 10_000,
    "cache_creation_input_tokens": 2_000,
    "output_tokens": 100,
}
COST = (1_000 * 3 + 10_000 * 0.3 + 2_000 * 3.75 + 100 * 15) / 1_000_000


class Nothing(BaseModel):
    """A tool without arguments."""


async def _look(context: ToolContext, args: Nothing) -> Json:
    return {"found": 1}


LOOK = Tool("look", "Looks.", Nothing, _look)
DONE = Reply((respond(said("Done.")),), usage=USAGE)
LOOKS = Reply((call("look"),), usage=USAGE)


async def _said(*answers: Reply, check: Any, words: str = "Hello") -> None:
    async with FakeMessagesApi(replies=deque(answers), handler=lambda body: LOOKS) as api:

        def provider(_: Any) -> AnthropicProvider:
            return AnthropicProvider("key", "claude-test-5", base_url=api.base_url)

        async with desk(replies([]), LOOK, provider=provider) as d:
            await d.say(words)
            await check(d)
        await close_clients()


async def test_tokens_and_costs_of_a_reply_a_turn_a_conversation_and_a_day(settings: Any) -> None:
    settings.BEACH_PRICES = PRICES

    async def check(d: Desk) -> None:
        rows = await d.rows("provider")
        assert [row.data["cost"] for row in rows] == [pytest.approx(COST)] * 2
        assert [row.data["model"] for row in rows] == ["claude-test-5"] * 2
        (turn,) = await d.turns()
        assert (turn.tokens, turn.cost) == (2 * 13_100, pytest.approx(2 * COST))
        # At the desk, where staff look.
        assert "output_tokens 100" in sentence(rows[0]) and sentence(rows[0]).endswith("(0.0150 USD)")
        seen = await sync_to_async(near)(d.session, rows[-1].seq)
        assert sum(row.usage for row in seen.rows) == 2 * 13_100, "what came from a cache too"
        assert sum(row.cost for row in seen.rows) == pytest.approx(2 * COST)
        day = await sync_to_async(today.tokens)(rows[-1].at)
        assert (day.read, day.written, day.cost) == (2 * 13_000, 200, pytest.approx(2 * COST))
        printed = {}
        for by in ("day", "person", "conversation", "agent"):
            out = StringIO()
            await sync_to_async(call_command)("beach", "costs", by=by, stdout=out)
            printed[by] = out.getvalue()
            assert printed[by].count("1 answers  26,200 tokens  0.0300 USD") == 2, (
                "a line for it, and for all"
            )
        assert "anonymous:kkkk" in printed["person"]
        assert d.session.public_id in printed["conversation"] and "tester" in printed["agent"]

    await _said(LOOKS, DONE, check=check)


@pytest.mark.parametrize("speaks", [FakeMessagesApi, FakeChatApi])
@pytest.mark.parametrize("how", ["stopped", "broken off", "silent", "refused"])
async def test_a_reply_that_does_not_come_to_its_end_counts_by_an_estimate(
    how: str, speaks: type[FakeMessagesApi | FakeChatApi], settings: Any
) -> None:
    """Claude's side says at the beginning what was read, and what of it from a cache; others only at the end."""
    settings.BEACH_PRICES, settings.BEACH_MODEL_RETRIES = PRICES, 0
    words = "A sentence that goes on and on. " * 40
    fails: dict[str, Any] = {"broken off": {"fail": "drop"}, "silent": {"fail": "silent"}}
    first = Reply((respond(said(words)),), **fails.get(how, {"pace": 0.005}))
    answer = overloaded("") if how == "refused" else first
    async with speaks(replies=deque([answer])) as api:

        def provider(_: Any) -> Any:
            if isinstance(api, FakeChatApi):
                return OpenAIProvider("key", "claude-test-5", base_url=api.address)
            return AnthropicProvider("key", "claude-test-5", base_url=api.base_url)

        async with desk(replies([]), provider=provider) as d:
            await d.say("Hello", wait=False)
            if how == "stopped":
                async with asyncio.timeout(5):
                    while not any(len(each.text) > 100 for each in deltas.told(d.session.pk)):  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
            await d.quiet()
            (row,) = await d.rows("provider")
            (turn,) = await d.turns()
        await close_clients()

    if how == "refused":
        assert "usage" not in row.data and (turn.tokens, turn.cost) == (0, 0.0)
        return
    usage = row.data["usage"]
    assert row.data["estimated"] is True and row.data["model"] == "claude-test-5"
    if speaks is FakeMessagesApi:
        assert (usage["input_tokens"], usage["cache_read_input_tokens"]) == (100, 40), "as it was told"
    else:
        assert usage["input_tokens"] > 1_000, "all of the prompt"
    assert 20 < usage["output_tokens"] < len(words) / 3
    assert turn.cost == pytest.approx(row.data["cost"], abs=1e-6) and turn.cost > 0
    assert turn.tokens == costs.taken(usage).total
    assert "Estimated: " in sentence(row) and "USD" in sentence(row)


@pytest.mark.parametrize("kind", ["thinking", "text"])
async def test_what_is_thought_or_written_beside_counts_where_it_is_stopped(kind: str, settings: Any) -> None:
    settings.BEACH_PRICES = PRICES
    words = "A thought that goes on and on. " * 40
    block = Thinking(words) if kind == "thinking" else Text(words)
    async with FakeMessagesApi(replies=deque([Reply((block,), fail="stall", when=0.5)])) as api:

        def provider(_: Any) -> AnthropicProvider:
            return AnthropicProvider("key", "claude-test-5", base_url=api.base_url)

        async with desk(replies([]), provider=provider) as d:
            await d.say("Hello", wait=False)
            async with asyncio.timeout(5):
                while not api.requests or api.requests[0].fragments < len(words) / 7 / 2 - 1:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
            await d.quiet()
            (row,) = await d.rows("provider")
        await close_clients()

    assert 100 < row.data["usage"]["output_tokens"] < len(words) / 3


async def test_a_server_that_does_not_count_is_counted_by_an_estimate(settings: Any) -> None:
    """Else no limit on tokens or cost would hold there."""
    settings.BEACH_PRICES, settings.BEACH_TURN_COST = PRICES, 0.001
    silent = {"prompt_tokens": -7, "completion_tokens": 0}
    asks = Reply((call("look"),), usage=silent)
    async with FakeChatApi(replies=deque([asks, asks])) as api:

        def provider(_: Any) -> OpenAIProvider:
            return OpenAIProvider("key", "claude-test-5", base_url=api.address)

        async with desk(replies([]), LOOK, provider=provider) as d:
            await d.say("Hello")
            (row,) = await d.rows("provider")
            (turn,) = await d.turns()
            (part,) = await d.parts("error")
        await close_clients()

    assert row.data["estimated"] is True and row.data["stopReason"] == "tool_use"
    assert row.data["usage"]["input_tokens"] > 1_000 and turn.tokens == costs.taken(row.data["usage"]).total
    assert part["data"]["code"] == "too_expensive"
    assert sentence(row).startswith("Model reply ended: tool_use. Estimated: input_tokens ")


async def test_without_a_price_tokens_are_counted_and_nothing_is_said_of_money() -> None:
    async def check(d: Desk) -> None:
        (row,) = await d.rows("provider")
        assert "cost" not in row.data and "USD" not in sentence(row)
        (turn,) = await d.turns()
        assert (turn.tokens, turn.cost) == (13_100, 0.0)

    await _said(DONE, check=check)


@pytest.mark.parametrize(
    ("setting", "bound", "replies_made", "code", "says"),
    [
        ("BEACH_MAX_STEPS", 2, 2, "too_many_steps", "2 steps"),
        ("BEACH_TURN_TOKENS", 30_000, 3, "too_many_tokens", "39,300 tokens"),
        ("BEACH_TURN_COST", 0.02, 2, "too_expensive", "0.0300 USD"),
    ],
)
async def test_each_bound_of_a_turn_has_an_error_of_its_own(
    setting: str, bound: Any, replies_made: int, code: str, says: str, settings: Any
) -> None:
    settings.BEACH_PRICES = PRICES
    setattr(settings, setting, bound)

    async def check(d: Desk) -> None:
        assert len(await d.rows("provider")) == replies_made
        (part,) = await d.parts("error")
        assert part["data"]["code"] == code and says in part["text"]

    await _said(check=check)


def test_the_longest_name_that_fits_has_the_price(settings: Any) -> None:
    settings.BEACH_PRICES = {"claude": {"output": 1}, "claude-opus": {"output": 5}, "gpt": {"output": 9}}

    for model, cost in (("claude-opus-5", 5.0), ("claude-haiku", 1.0), ("llama", None)):
        assert costs.cost_of(model, {"output_tokens": 1_000_000}) == cost


@pytest.mark.parametrize(
    "usage", [None, [], {"input_tokens": "many", "output_tokens": True}, {"input_tokens": -5}]
)
def test_what_is_no_count_counts_for_nothing(usage: Any) -> None:
    assert costs.taken(usage).total == 0


@pytest.mark.parametrize(
    "given",
    [[], {"m": 3}, {"m": {"input": "3"}}, {"m": {"inputs": 3}}, {"": {"input": 3}}, {"m": {"input": -1}}],
)
def test_what_is_no_list_of_prices_is_told(given: Any, settings: Any) -> None:
    settings.BEACH_PRICES = given

    ((name, told),) = problems()
    assert name == "BEACH_PRICES" and "input, output, cache_read, cache_write" in told
