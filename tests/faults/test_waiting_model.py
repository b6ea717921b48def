"""kill -9 while a busy model is waited for: the turn goes on, its reply comes once and is paid for once."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable

from envelopes.fakes import FakeMessagesApi, Refusal, Reply, respond, said
from tests.faults.conftest import Lab
from tests.liveserver import Server
from tests.visitor import Visitor

BUSY = Refusal(503, "overloaded_error", headers=(("retry-after", "20"),))
ANSWER = Reply((respond(said("Two flights.")),), usage={"input_tokens": 1_000, "output_tokens": 100})
PRICES = {"claude": {"input": 3, "output": 15}}


async def test_while_it_waits_to_be_asked_again(make_server: Callable[..., Server]) -> None:
    async with FakeMessagesApi(replies=deque([BUSY, ANSWER])) as api:
        environ = {
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": api.base_url,
            "BEACH_PRICES": json.dumps(PRICES),
        }
        lab = Lab(make_server(environ=environ))
        visitor = await (await Visitor.arrive(lab.server)).connect()
        await visitor.say("Find me a flight")
        await visitor.shows("Claude is busy, trying again at")
        await lab.kill()
        await visitor.drop()
        await lab.start()
        await visitor.connect()
        await visitor.settles()
        text = visitor.page.text()

        assert text.count("Two flights.") == 1 and "Tried again (1 of 4)" in text
        assert len(api.requests) == 2 and api.problems == []
        turns = lab.query("SELECT tokens, round(cost * 10000), attempt, finalized_by FROM envelopes_turn")
        assert turns == [(1_100, 45, 2, "complete")]
        lab.log_is_gap_free()
        await visitor.is_as_reloaded()
        await visitor.drop()
