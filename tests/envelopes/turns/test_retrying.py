"""An error part may name a retry policy: the runtime tries the turn, or tells the error, again (respond() document)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes import intake
from envelopes.delivery.envelope import envelope_for
from envelopes.models import Turn
from envelopes.part_types.error import ERROR
from envelopes.protocol.payloads import MAX_ATTEMPTS, MAX_RETRY_SECONDS
from envelopes.providers.scripted import Conversation, Say, data, text
from envelopes.registries.part_types import part_types
from envelopes.turns import retrying
from envelopes.types import JsonObject
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


def _fails(words: str = "The airline does not answer.", **policy: Any) -> Say:
    return Say([{**text("error", words), "data": {"retryPolicy": policy}}], "error")


async def _goes_on(d: Desk, turns: int) -> None:
    """Time passes, until there are so many turns and all are over."""
    d.runner.now = lambda: 4e9
    for _ in range(2000):
        # Each new one has its time as it is now.
        await Turn.objects.filter(deadline__lt=5e9).aupdate(deadline=5e9)
        found = await d.turns()
        if len(found) == turns and all(turn.status == "settled" for turn in found):
            return
        await asyncio.sleep(0.01)
    raise AssertionError([(turn.number, turn.status) for turn in await d.turns()])


@pytest.fixture(autouse=True)
def patient(settings: Any) -> None:
    """What is due is, however far the clock of a test is."""
    settings.BEACH_TURN_SECONDS = 9e9


async def test_a_turn_is_tried_again_when_its_time_has_come_and_says_so() -> None:
    script = replies([_fails(attempts=2, afterSeconds=60)], [Say([text("response", "Two flights.")])])
    async with desk(script) as d:
        await d.say("Find flights")
        first, second = await d.turns()
        assert (first.status, first.finalized_by) == ("settled", "error")
        assert second.status == "waiting" and second.due_at is not None
        (row,) = [row for row in await d.rows("turn") if row.data["reason"] == "retry"]
        assert {key: row.data["retry"][key] for key in ("number", "of", "mode")} == {
            "number": 1,
            "of": 2,
            "mode": "turn",
        }
        html = await d.html()
        assert "The airline does not answer" in html and "Tries again at" in html and "(1 of 2)" in html
        # Not before.
        d.runner.now = lambda: second.due_at - 1
        await d.runner._sweep_once()
        assert len(d.requests) == 1

        await _goes_on(d, 2)
        assert await d.texts() == ["Two flights."]
        assert [turn.finalized_by for turn in await d.turns()] == ["error", "complete"]
        again = Conversation(d.requests[1])
        assert again.text == "Find flights"
        assert "The airline does not answer." in str(d.requests[1].messages)
        html = await d.html()
        assert "Trying again (1 of 2)" in html and "Two flights." in html


async def test_it_is_tried_so_often_and_no_oftener() -> None:
    async with desk(replies([_fails(attempts=2, afterSeconds=1)])) as d:
        await d.say("Find flights")
        await _goes_on(d, 3)
        await d.runner._sweep_once()
        await d.quiet()
        assert len(d.requests) == 3
        assert [turn.trigger.get("retry", {}).get("number") for turn in await d.turns()] == [None, 1, 2]


async def test_whoever_fails_again_cannot_raise_the_number_of_attempts() -> None:
    script = replies([_fails(attempts=1, afterSeconds=1)], [_fails(attempts=5, afterSeconds=1)])
    async with desk(script) as d:
        await d.say("Find flights")
        await _goes_on(d, 2)
        await d.runner._sweep_once()
        await d.quiet()
        assert len(await d.turns()) == 2


async def test_an_error_is_told_again_without_asking_the_model() -> None:
    script = replies([_fails("The printer is on fire.", mode="emit", attempts=2, afterSeconds=5)])
    async with desk(script) as d:
        await d.say("Print")
        assert "Says so again at" in await d.html()
        await _goes_on(d, 3)
        assert len(d.requests) == 1
        told = await d.parts("error")
        assert [part["text"] for part in told] == ["The printer is on fire."] * 3
        assert [part["metadata"].get(retrying.REPEATED) for part in told] == [
            None,
            {"number": 1, "of": 2},
            {"number": 2, "of": 2},
        ]
        # Each goes to whoever was not there: an envelope of its own.
        last = (await d.turns())[-1]
        envelope = await sync_to_async(envelope_for)(last)
        assert [part["text"] for part in envelope["parts"]] == ["The printer is on fire."]
        assert (await d.html()).count("The printer is on fire") == 3
        assert "Says so again" not in await d.html()


async def test_a_person_who_stops_what_is_at_work_stops_that_too() -> None:
    async with desk(replies([_fails(attempts=1, afterSeconds=60)])) as d:
        await d.say("Find flights")
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        assert [turn.finalized_by for turn in await d.turns()] == ["error", "cancelled"]
        assert "Tries again at" not in await d.html()
        d.runner.now = lambda: 4e9
        await d.runner._sweep_once()
        await d.quiet()
        assert len(d.requests) == 1


async def test_only_the_error_by_which_a_turn_ends_is_tried_again() -> None:
    on_the_way = Say([{**text("error", "One of two."), "data": {"retryPolicy": {}}}], "awaiting")
    async with desk(replies([on_the_way], [Say([text("response", "The other one.")])])) as d:
        await d.say("Both")
        assert len(await d.turns()) == 1


async def test_nobody_tries_again_for_one_who_was_asked() -> None:
    def host(request: Any) -> Any:
        heard = [entry for entry in Conversation(request).injections if entry.kind == "delegated"]
        return replies([Say([text("response", "It failed.")])] if heard else [asks])(request)

    asks = Say([text("ack", "I ask.")], "delegated", delegate_to="finder")
    async with desk(replies([_fails(attempts=3, afterSeconds=1)]), name="finder"), desk(host) as d:
        await d.say("Find")
        await d.quiet()
        assert [turn.finalized_by for turn in await d.turns()] == ["complete", "error"]


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        ({"attempts": MAX_ATTEMPTS + 1}, "attempts"),
        ({"attempts": 0}, "attempts"),
        ({"afterSeconds": MAX_RETRY_SECONDS + 1}, "afterSeconds"),
        ({"afterSeconds": -1}, "afterSeconds"),
        ({"mode": "shout"}, "mode"),
        ({"forever": True}, "forever"),
    ],
)
async def test_a_policy_beyond_its_bounds_is_refused_with_a_pointer(policy: JsonObject, path: str) -> None:
    async with desk(replies([_fails(**policy)], [Say([text("response", "Sorry.")])])) as d:
        await d.say("Find")
        (refused,) = await d.rows("refused")
        assert refused.data["error"]["path"] == f"/parts/0/data/retryPolicy/{path}"
        assert len(await d.turns()) == 1


async def test_a_policy_in_a_part_that_may_not_have_one_means_nothing() -> None:
    said = Say([data("domain-data", {"retryPolicy": {"x": 1}}), text("error", "No.")], "error")
    async with desk(replies([said])) as d:
        await d.say("Find")
        assert len(await d.turns()) == 1
    assert [kind.name for kind in part_types if kind.may_retry] == [ERROR.name]
