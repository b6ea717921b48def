"""Thinking that does not come back as it was written: a turn goes on without it, also behind an approval."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.fakes import FakeChatApi, FakeMessagesApi, Recorded, Refusal, Reply, Thinking, call
from envelopes.fakes.replies import Plain
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.providers.openai import OpenAIProvider
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class Sum(BaseModel):
    euros: int


async def _pay(context: ToolContext, args: Sum) -> Json:
    return {"paid": args.euros}


PAY = Tool("pay", "Pays.", Sum, _pay, approval=ApprovalPolicy(question=lambda args: f"Pay {args.euros}?"))


def asking(thought: str) -> deque[Any]:
    return deque([Reply((Thinking(thought), call("pay", euros=3)))])


def claude(api: FakeMessagesApi) -> AnthropicProvider:
    return AnthropicProvider("key", "same-model", base_url=api.base_url)


async def is_paid_and_answered(d: Desk) -> None:
    (paid,) = await d.calls()
    (turn,) = await d.turns()
    assert paid.state == "succeeded" and await d.parts("error") == []
    assert turn.finalized_by == "complete" and await d.texts() == ["Hello."]


@pytest.mark.parametrize("thought", ["A bell \x07 rings.", "\x85", "\ufdd0 is no character."])
async def test_what_cannot_be_kept_as_it_was_thought_is_not_sent_back(thought: str) -> None:
    async with FakeMessagesApi(replies=asking(thought)) as api:
        async with desk(replies([]), PAY, provider=lambda _: claude(api)) as d:
            await d.say("Pay")
            await d.decide("granted")
            await is_paid_and_answered(d)
            (trace,) = await d.parts("reasoning-trace")
        await close_clients()

    assert "\ufffd" in trace["data"]["text"] and len(api.requests) == 2 and api.problems == []


@dataclass
class Forgetful(FakeMessagesApi):
    """Takes no thinking back."""

    def answer(self, recorded: Recorded) -> Reply | Refusal | Plain:
        if "'thinking'" in str(recorded.body["messages"]):
            told = "messages.1.content.0: Invalid `signature` in `thinking` block"
            return Refusal(400, "invalid_request_error", told)
        return super().answer(recorded)


async def test_a_signature_that_is_refused_costs_the_thinking_and_not_the_turn() -> None:
    async with Forgetful(replies=asking("Hm.")) as api:
        async with desk(replies([]), PAY, provider=lambda _: claude(api)) as d:
            await d.say("Pay")
            await d.decide("granted")
            await is_paid_and_answered(d)
            told = [row.data.get("error", {}).get("detail", "") for row in await d.rows("provider")]
        await close_clients()

    assert len(api.requests) == 3 and "signature" in told[1], "and staff can read why"


async def test_a_turn_goes_on_with_another_provider_of_a_model_of_the_same_name() -> None:
    async with FakeMessagesApi() as api, FakeChatApi(replies=asking("Hm.")) as chat:

        def provider(_: Any) -> Any:
            if chat.requests:
                return claude(api)
            return OpenAIProvider("key", "same-model", base_url=chat.address)

        async with desk(replies([]), PAY, provider=provider) as d:
            await d.say("Pay")
            await d.decide("granted")
            await is_paid_and_answered(d)
        await close_clients()

    assert len(api.requests) == 2
