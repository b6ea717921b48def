"""What jobs say and find after their turn has settled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.models import Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, ScriptedProvider, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json, JsonObject
from tests.desk import Desk, desk

pytestmark = pytest.mark.django_db(transaction=True)

CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
SURFACES = Reader(surfaces=True)


class Topic(BaseModel):
    topic: str


def _surface(**message: Json) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"version": "v0.9", **message}}


def _created() -> JsonObject:
    return _surface(createSurface={"surfaceId": "sights", "catalogId": CATALOG})


def _shows(words: str) -> JsonObject:
    root = {"id": "root", "component": "Text", "text": words}
    return _surface(updateComponents={"surfaceId": "sights", "components": [root]})


def _data(kind: str, value: Json) -> JsonObject:
    return {"metadata": {"partType": "domain-data", "dataKind": kind}, "data": value}


class Job:
    """A job in three acts: before its turn settles, after it, and its end, when the test says so."""

    def __init__(self, *late: JsonObject) -> None:
        self.late = late
        self.early: tuple[JsonObject, ...] = ()
        self.begun = asyncio.Event()
        self.speak, self.spoken, self.end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, context: ToolContext, args: Topic) -> Json:
        if self.early:
            await context.emit(*self.early)
        self.begun.set()
        await self.speak.wait()
        for part in self.late:
            await context.emit(part)
        self.spoken.set()
        await self.end.wait()
        return {"found": 3}


def _script(also: list[Any]) -> Callable[[ModelRequest], Reply]:
    def script(request: ModelRequest) -> Reply:
        conversation = Conversation(request)
        if any(outcome.late for outcome in conversation.outcomes):
            return Reply([Say([*also, text("response", "Found.")])])
        if "Research" in conversation.text and not conversation.replies:
            return Reply([Call("research", {"topic": "Corfu"})])
        return Reply([Say([text("response", "I will tell you.")])])

    return script


@asynccontextmanager
async def _settled(job: Job, *also: Any, **more: Any) -> AsyncIterator[Desk]:
    """A conversation whose first turn is over while the job still runs."""
    tool = Tool("research", "", Topic, job, background=True, **more)
    called = False

    def script(request: ModelRequest) -> Reply:
        nonlocal called
        called = bool(Conversation(request).replies)
        return _script(list(also))(request)

    async def until_begun(_seconds: float) -> None:
        # The turn must not be over before the job has said what it says early.
        if called:
            await job.begun.wait()

    async with desk(script, tool, provider=lambda f: ScriptedProvider(f, pace=0, sleep=until_begun)) as d:
        await d.say("Research Corfu", wait=False)
        await _until(d, "settled")
        yield d


async def _until(d: Desk, *statuses: str) -> None:
    for _ in range(1000):
        if [turn.status for turn in await d.turns()] == list(statuses):
            return
        await asyncio.sleep(0.01)
    raise AssertionError([turn.status for turn in await d.turns()])


async def _envelope(d: Desk, number: int) -> list[str]:
    def read() -> list[JsonObject]:
        turn = Turn.objects.select_related("session").get(session=d.session, number=number)
        parts: list[JsonObject] = envelope_for(turn, SURFACES)["parts"]
        return parts

    return [
        part["metadata"].get("dataKind") or part.get("text") or part["metadata"]["partType"]
        for part in await sync_to_async(read)()
    ]


async def test_s13_a_surface_that_a_job_opens_late_is_on_the_page_and_in_the_envelope_of_its_answer() -> None:
    job = Job(_created(), _shows("Three sights"))
    async with _settled(job, _shows("Four sights")) as d:
        job.speak.set()
        await asyncio.wait_for(job.spoken.wait(), 10)
        await _until(d, "settled", "waiting")
        assert "Three sights" in await d.html()
        job.end.set()
        await _until(d, "settled", "settled")

        html = await d.html()
        assert "Four sights" in html
        assert "Three sights" not in html
        assert not [row for row in await d.rows("part") if row.data.get("late")]
        assert await _envelope(d, 1) == ["I will tell you."]
        assert await _envelope(d, 2) == ["Found.", "a2ui-surface"]


async def test_s13_what_a_job_finds_late_is_in_the_envelope_of_the_turn_that_answers() -> None:
    job = Job(_data("sights", {"best": "Old town"}))
    job.early = (_data("early", {}),)
    async with _settled(job, data_kind="found") as d:
        job.speak.set()
        job.end.set()
        await _until(d, "settled", "settled")

        assert await _envelope(d, 1) == ["early", "I will tell you."]
        assert await _envelope(d, 2) == ["sights", "found", "Found."]
        assert "Old town" in await d.html()


async def test_s13_a_result_alone_is_in_the_envelope_of_the_turn_that_it_begins() -> None:
    job = Job()
    async with _settled(job, data_kind="found") as d:
        job.speak.set()
        job.end.set()
        await _until(d, "settled", "settled")

        assert await _envelope(d, 1) == ["I will tell you."]
        assert await _envelope(d, 2) == ["found", "Found."]
        # Whoever follows gets it as soon as it is there: as data of the turn that goes on with it.
        (part,) = await d.rows("part", "domain-data")
        assert (part.turn, part.data.get("late")) == (2, None)


async def test_what_a_job_says_of_a_surface_that_is_there_and_words_begin_no_turn() -> None:
    job = Job(_shows("Three sights"), {"text": "Late words", "metadata": {"partType": "response"}})
    job.early = (_created(), _shows("Looking"))
    async with _settled(job) as d:
        job.speak.set()
        await asyncio.wait_for(job.spoken.wait(), 10)

        assert [turn.status for turn in await d.turns()] == ["settled"]
        html = await d.html()
        assert "Three sights" in html
        assert "Late words" not in html
        job.end.set()
        await _until(d, "settled", "settled")
        assert await _envelope(d, 2) == ["Found.", "a2ui-surface"]


async def test_what_a_job_is_refused_begins_no_turn() -> None:
    job = Job(_surface(updateComponents={"surfaceId": "nowhere", "components": []}))
    async with _settled(job) as d:
        job.speak.set()
        await _until(d, "settled", "settled")

        (call,) = await d.calls()
        assert call.state == "failed"
        assert [row.data["status"] for row in await d.rows("turn") if row.turn == 2] == ["queued", "running"]


async def test_stopping_the_turn_that_a_job_began_stops_the_job() -> None:
    job = Job(_created())
    async with _settled(job) as d:
        job.speak.set()
        await asyncio.wait_for(job.spoken.wait(), 10)
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        job.end.set()
        await d.quiet()

        (call,) = await d.calls()
        assert (call.state, call.error["code"]) == ("failed", "cancelled")
        assert [turn.finalized_by for turn in await d.turns()] == ["complete", "cancelled"]
