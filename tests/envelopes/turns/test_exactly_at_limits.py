"""Exactly at a limit, and one above it: the sentence is right, nothing is lost, and what comes next works."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from envelopes.errors import BeachError
from envelopes.fakes import FakeMessagesApi, Reply, call, respond, said
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.turns.day_costs import day_costs
from tests.desk import desk, replies
from tests.envelopes.test_costs import LOOK, PRICES

pytestmark = pytest.mark.django_db(transaction=True)

USAGE = {"input_tokens": 900, "output_tokens": 100}
TOKENS, COST = 1_000, (900 * 3 + 100 * 15) / 1_000_000
LOOKS = Reply((call("look"),), usage=USAGE)
DONE = Reply((respond(said("Done.")),), usage=USAGE)


@pytest.mark.parametrize(
    ("setting", "one", "code", "says"),
    [
        ("BEACH_MAX_STEPS", 1, "too_many_steps", "This took 2 steps"),
        ("BEACH_TURN_TOKENS", TOKENS, "too_many_tokens", "This took 2,000 tokens"),
        ("BEACH_TURN_COST", COST, "too_expensive", "This has cost 0.0084 USD"),
    ],
)
@pytest.mark.parametrize("looks", [1, 2])
async def test_an_answer_may_take_all_there_is_and_no_more(
    looks: int, setting: str, one: Any, code: str, says: str, settings: Any
) -> None:
    """The limit is what two replies take: a turn that answers with its second is within it."""
    settings.BEACH_PRICES = PRICES
    setattr(settings, setting, 2 * one)
    async with FakeMessagesApi(replies=deque([*[LOOKS] * looks, DONE, DONE])) as api:

        def provider(_: Any) -> AnthropicProvider:
            return AnthropicProvider("key", "claude-test-5", base_url=api.base_url)

        async with desk(replies([]), LOOK, provider=provider) as d:
            await d.say("Look")
            (turn,) = await d.turns()
            errors = await d.parts("error")
            calls = [each.state for each in await d.calls()]
            api.replies = deque([DONE])
            await d.say("Again")
            assert (await d.texts())[-1] == "Done."
        await close_clients()

    assert (turn.tokens, turn.cost) == (2 * TOKENS, pytest.approx(2 * COST))
    assert calls == ["succeeded"] * looks, "what was called has run"
    if looks == 1:
        assert (turn.finalized_by, errors) == ("complete", [])
        return
    (error,) = errors
    assert error["data"]["code"] == code and error["text"].startswith(says)
    assert api.problems == []


@pytest.mark.parametrize("setting", ["BEACH_PERSON_DAY_COST", "BEACH_DAY_COST"])
@pytest.mark.parametrize("more", [-1e-9, 0.0, 1e-9], ids=["just below", "exactly at", "just above"])
async def test_the_last_message_of_a_day_is_the_one_that_reaches_its_limit(
    more: float, setting: str, settings: Any
) -> None:
    settings.BEACH_PRICES = PRICES
    # What has been spent is ``more`` than the limit.
    setattr(settings, setting, COST - more)
    day_costs.forget()
    async with FakeMessagesApi(handler=lambda body: DONE) as api:

        def provider(_: Any) -> AnthropicProvider:
            return AnthropicProvider("key", "claude-test-5", base_url=api.base_url)

        async with desk(replies([]), provider=provider) as d:
            await d.say("One")
            assert await d.texts() == ["Done."]
            try:
                await d.say("Two")
                refused = ""
            except BeachError as error:
                refused = error.message
            assert len(await d.turns()) == (1 if refused else 2), "nothing was stored of what was refused"
            setattr(settings, setting, 10 * COST)
            await d.say("Three")
            assert (await d.texts())[-1] == "Done."
        await close_clients()
    day_costs.forget()

    assert bool(refused) == (more >= 0)
    assert not refused or "You can go on from 00:00" in refused
