"""Handing a turn on: what was gathered, and what still comes in, is the next actor's (respond() document, "passTo")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.delivery.envelope import envelope_for
from envelopes.log.append import writing
from envelopes.models import Injection, Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.turns import leases
from envelopes.turns.lifecycle import hand_over, inject
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, Script, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class Place(BaseModel):
    name: str


async def _weather(context: ToolContext, args: Place) -> Json:
    return {"degrees": 24}


WEATHER = Tool("weather", "", Place, _weather, data_kind="weather")

GATHER = [
    Say([text("ack", "Looking."), data("domain-data", {"sights": 3}, dataKind="sights")], "awaiting"),
    Call("weather", {"name": "Corfu"}),
]


def _pass_to(actor: str) -> Say:
    return Say([text("response", f"Over to the {actor}.")], "passed", pass_to=actor)


async def _envelopes(d: Desk) -> list[list[JsonObject]]:
    def read() -> list[list[JsonObject]]:
        turns = Turn.objects.filter(session=d.session, status="settled").select_related("session")
        return [envelope_for(turn)["parts"] for turn in turns.order_by("number")]

    return await sync_to_async(read)()


def _shown(parts: list[JsonObject]) -> list[str]:
    return [
        part["metadata"].get("dataKind") or part.get("text") or part["metadata"]["partType"] for part in parts
    ]


async def test_s13_the_envelope_of_the_actor_that_answers_has_what_the_others_gathered() -> None:
    drafted = replies([Say([text("response", "Drafted.")])])
    async with desk(drafted, name="drafter"), desk(replies(GATHER, [_pass_to("drafter")]), WEATHER) as d:
        await d.say("Write about Corfu")
        await d.quiet()

        first, second = await _envelopes(d)
        assert _shown(first) == ["Over to the drafter."]
        assert _shown(second) == ["sights", "weather", "Drafted."]
        assert second[1]["data"] == {"degrees": 24}


async def test_s13_a_mailbox_is_kept_however_often_it_is_passed_on() -> None:
    last: list[ModelRequest] = []

    def edited(request: ModelRequest) -> Reply:
        last.append(request)
        return Reply([Say([text("response", "Edited.")])])

    drafted = replies([_pass_to("editor")])
    async with (
        desk(edited, name="editor"),
        desk(drafted, name="drafter"),
        desk(replies(GATHER, [_pass_to("drafter")]), WEATHER) as d,
    ):
        await d.say("Write about Corfu")
        await d.quiet()

        assert _shown((await _envelopes(d))[-1]) == ["sights", "weather", "Edited."]
        assert '"degrees":24' in str(last[0].messages[-1])


@asynccontextmanager
async def _with_a_job(drafter: Script, release: asyncio.Event) -> AsyncIterator[Desk]:
    """A turn that has started a job and is handed on to ``drafter``."""

    async def research(context: ToolContext, args: Place) -> Json:
        await release.wait()
        await context.attach("notes.txt", "text/plain", b"Old town")
        return {"sights": 3}

    tool = Tool("research", "", Place, research, background=True, data_kind="sights")
    begun = replies([Call("research", {"name": "Corfu"})], [_pass_to("drafter")])
    async with desk(drafter, name="drafter"), desk(begun, tool) as d:
        await d.say("Write about Corfu", wait=False)
        yield d


async def _until(d: Desk, *statuses: str) -> None:
    for _ in range(1000):
        if [turn.status for turn in await d.turns()] == list(statuses):
            return
        await asyncio.sleep(0.01)
    raise AssertionError([turn.status for turn in await d.turns()])


def _waits(request: ModelRequest) -> Reply:
    late = [outcome for outcome in Conversation(request).outcomes if outcome.late]
    if late:
        return Reply([Say([text("response", f"Drafted with {late[0].content}.")])])
    return Reply([Say([text("ack", "Waiting.")], "awaiting")])


async def test_s13_a_background_result_goes_to_the_actor_that_has_the_turn_now() -> None:
    release = asyncio.Event()
    async with _with_a_job(_waits, release) as d:
        await _until(d, "settled", "waiting")
        release.set()
        await _until(d, "settled", "settled")

        assert [turn.actor for turn in await d.turns()] == ["tester", "drafter"]
        (answer,) = [words for words in await d.texts() if words.startswith("Drafted with")]
        assert "'sights': 3" in answer
        # The file is the first actor's work and part of the second one's answer.
        (file,) = await d.rows("part", "artifact")
        assert (file.actor, file.turn, "late" in file.data) == ("tester", 2, False)
        assert _shown((await _envelopes(d))[1]) == ["artifact", "sights", answer]


def test_s13_a_result_that_comes_before_the_next_actor_has_begun_is_what_it_begins_with() -> None:
    with factories.acting(), factories.acting(name="drafter"):
        turn = factories.make_turn(factories.make_session())
        with writing(turn.session_id) as writer:
            turn = Turn.objects.select_related("session").get(pk=turn.pk)
            hand_over(writer, turn, "drafter")
        with writing(turn.session_id) as writer:
            given = {"payload": {"result": {"sights": 3}}, "tool": "research", "callId": "c"}
            inject(writer, turn, Injection.objects.create(turn=turn, kind="tool-result", data=given))

        claim = leases.claim_next(turn.session_id, "here:1:1")

        assert claim is not None
        begun = Turn.objects.get(pk=claim.turn_pk)
        assert begun.actor == "drafter"
        assert '{"result":{"sights":3}}' in str(begun.messages)
        assert not Injection.objects.filter(consumed_at=None).exists()


async def test_s13_when_nobody_has_the_turn_any_more_the_last_actor_hears_of_it() -> None:
    release = asyncio.Event()

    def drafter(request: ModelRequest) -> Reply:
        late = [outcome for outcome in Conversation(request).outcomes if outcome.late]
        return Reply([Say([text("response", "And found." if late else "Drafted.")])])

    async with _with_a_job(drafter, release) as d:
        await _until(d, "settled", "settled")
        release.set()
        await _until(d, "settled", "settled", "settled")

        assert [turn.actor for turn in await d.turns()] == ["tester", "drafter", "drafter"]
        assert (await d.texts())[-1] == "And found."


async def test_s13_stopping_the_turn_stops_the_jobs_that_came_with_it() -> None:
    release = asyncio.Event()
    async with _with_a_job(_waits, release) as d:
        await _until(d, "settled", "waiting")
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        release.set()
        await d.quiet()

        (call,) = await d.calls()
        assert (call.state, call.error["code"]) == ("failed", "cancelled")
        assert await d.rows("part", "artifact") == []
        assert len(await d.turns()) == 2
