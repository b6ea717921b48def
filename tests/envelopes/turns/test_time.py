"""A turn has so much time, and says so when it is up (D9): ``finalizedBy: timeout``."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pydantic import BaseModel

from envelopes.delivery.envelope import envelope_for
from envelopes.errors import RegistrationError
from envelopes.models import Turn
from envelopes.providers.scripted import Call, Fail, Reply, Say, text
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool, ToolContext
from envelopes.turns import leases
from envelopes.types import Json
from tests import factories
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class Place(BaseModel):
    name: str


async def _until(d: Desk, *statuses: str) -> None:
    for _ in range(2000):
        if [turn.status for turn in await d.turns()] == list(statuses):
            return
        await asyncio.sleep(0.01)
    raise AssertionError([turn.status for turn in await d.turns()])


async def _is_written(d: Desk) -> None:
    for _ in range(2000):
        if any(turn.live for turn in await d.turns()):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nothing is written")


async def _is_late(d: Desk) -> None:
    """The time of every turn that has some is up, as far as the runner knows."""
    deadlines = [turn.deadline for turn in await d.turns() if turn.deadline is not None]
    d.runner.now = lambda: max(deadlines) + 1


async def _ended_in_time_out(d: Desk) -> Turn:
    turn = (await d.turns())[0]
    assert (turn.status, turn.turn_state, turn.finalized_by) == ("settled", "error", "timeout")
    (part,) = await d.parts("error")
    assert part["data"] == {"code": "turn_timeout", "title": "This took too long"}
    assert "took longer than 30 minutes" in part["text"]
    html = await d.html()
    # Said once.
    assert html.count("This took too long") == 1
    assert (await d.rows("settled"))[0].data["finalizedBy"] == "timeout"
    return turn


async def test_a_model_that_goes_on_for_ever_is_stopped_and_what_was_read_stays() -> None:
    stalls = replies([Say([text("response", "Dear Ada, " * 40)]), Fail("stall")])
    async with desk(stalls) as d:
        await d.say("Write", wait=False)
        await _is_written(d)
        await _is_late(d)
        await d.quiet()
        turn = await _ended_in_time_out(d)
        (cut,) = await d.parts("response")
        assert cut["metadata"]["cut"] == "stopped" and cut["text"].startswith("Dear Ada")
        envelope = await sync_to_async(envelope_for)(turn)
        assert envelope["meta"]["finalizedBy"] == "timeout"
        assert [part["metadata"]["partType"] for part in envelope["parts"]] == ["response", "error"]


async def test_a_job_that_is_waited_for_ends_with_the_time_as_when_a_person_stops_it() -> None:
    async def research(context: ToolContext, args: Place) -> Json:
        await asyncio.Event().wait()
        return {}

    script = replies([Call("research", {"name": "Corfu"})], [Say([text("ack", "Waiting.")], "awaiting")])
    async with desk(script, Tool("research", "", Place, research, background=True)) as d:
        await d.say("Research", wait=False)
        await _until(d, "waiting")
        await _is_late(d)
        await _until(d, "settled")
        await _ended_in_time_out(d)
        (call,) = await d.calls()
        assert (call.state, call.error["code"]) == ("failed", "turn_timeout")


async def test_the_time_of_a_turn_goes_on_while_nobody_runs_it_and_is_not_begun_anew() -> None:
    async with desk(replies([Say([text("response", "Never said.")])])) as d:
        await d.runner.stop()
        await d.say("Hello", wait=False)
        first = await sync_to_async(leases.claim_next)(d.session.pk, "gone:1:1")
        assert first is not None and first.deadline is not None
        await sync_to_async(Turn.objects.update)(lease_until=timezone.now() - timedelta(seconds=1))
        again = await sync_to_async(leases.claim_next)(d.session.pk, "gone:2:1")
        assert again is not None and again.deadline == first.deadline

        # Its runner is gone, and whoever finds it comes too late: nothing is asked of the model.
        await sync_to_async(Turn.objects.update)(lease_until=timezone.now() - timedelta(seconds=1))
        await _is_late(d)
        await d.runner.start()
        await d.quiet()
        await _ended_in_time_out(d)
        assert d.requests == []


async def test_waiting_for_a_job_gives_no_new_time() -> None:
    gate = asyncio.Event()

    async def research(context: ToolContext, args: Place) -> Json:
        await gate.wait()
        return {}

    calls, waits = [Call("research", {"name": "Corfu"})], [Say([text("ack", "Waiting.")], "awaiting")]
    script = replies(calls, waits, [Say([text("response", "Found.")])])
    async with desk(script, Tool("research", "", Place, research, background=True)) as d:
        await d.say("Research", wait=False)
        await _until(d, "waiting")
        before = (await d.turns())[0].deadline
        gate.set()
        await _until(d, "settled")
        assert (await d.turns())[0].deadline == before is not None
        assert await d.texts() == ["Found."]


async def test_people_have_their_own_time(settings: Any) -> None:
    settings.BEACH_TURN_SECONDS = 60.0
    script = replies(
        [Call("refund", {"order": "A17", "amount": 40.0, "note": ""})], [Say([text("response", "Paid.")])]
    )
    async with desk(script, factories.make_tool()) as d:
        await d.say("Pay it back")
        (turn,) = await d.turns()
        assert (turn.status, turn.deadline) == ("suspended", None)
        assert 0 < turn.seconds_left <= 60
        # A year later.
        d.runner.now = lambda: timezone.now().timestamp() + 3e7
        await d.runner._sweep_once()
        assert [turn.status for turn in await d.turns()] == ["suspended"]
        d.runner.now = lambda: 0.0
        await d.decide("granted")
        (turn,) = await d.turns()
        assert turn.finalized_by == "complete" and turn.deadline is not None


async def test_a_turn_waits_in_line_without_spending_its_time() -> None:
    async with desk(replies([Say([text("response", "Hi.")])])) as d:
        await d.runner.stop()
        await d.say("Hello", wait=False)
        (turn,) = await d.turns()
        assert (turn.deadline, turn.seconds_left) == (None, 1800.0)


def test_an_actor_may_have_a_budget_of_its_own() -> None:
    with factories.acting(turn_seconds=90.0) as actor:
        turn = factories.make_turn(factories.make_session(), status="queued")
        assert (actor.budget, turn.seconds_left) == (90.0, 90.0)
    with factories.acting() as actor:
        assert actor.budget == 1800.0
    with pytest.raises(RegistrationError, match="needs some time"):
        Actor("slow", "Slow", "", "", factories.no_model, turn_seconds=0)
    assert "slow" not in actors


async def test_a_turn_that_is_passed_on_says_passed_and_has_its_own_time() -> None:
    passes = replies(Reply([Say([text("thinking", "Yours.")], "passed", pass_to="drafter")]))
    async with desk(replies([Say([text("response", "Drafted.")])]), name="drafter"), desk(passes) as d:
        await d.say("Write")
        await d.quiet()
        first, second = await d.turns()
        assert (first.finalized_by, second.finalized_by) == ("passed", "complete")
        envelope = await sync_to_async(envelope_for)(first)
        assert envelope["meta"]["finalizedBy"] == "passed"
        assert second.seconds_left == 1800.0
