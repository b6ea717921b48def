"""Background tools: they report while they run, and their result comes back to the turn by itself."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.errors import ToolFailed
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json, JsonObject
from tests.desk import desk

pytestmark = pytest.mark.django_db(transaction=True)


class Topic(BaseModel):
    topic: str


def _progress(status: str) -> dict[str, object]:
    return {
        "metadata": {"partType": "progress"},
        "data": {"id": "read", "label": "Reading", "status": status},
    }


CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"


def _surface(message: JsonObject) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"version": "v0.9", **message}}


def _said(surface: str, words: str) -> JsonObject:
    root = {"id": "root", "component": "Text", "text": words}
    return {"updateComponents": {"surfaceId": surface, "components": [root]}}


def _script(request: ModelRequest) -> Reply:
    conversation = Conversation(request)
    late = [outcome for outcome in conversation.outcomes if outcome.late]
    if late:
        return Reply([Say([text("response", f"Found {late[0].content}.")])])
    if conversation.replies == 0 and "Research" in conversation.text:
        return Reply([Say([text("ack", "At work.")], "awaiting"), Call("research", {"topic": "Corfu"})])
    if "Research" in conversation.text:
        return Reply([Say([text("thinking", "This runs on its own.")], "awaiting")])
    return Reply([Say([text("response", "Still here.")])])


async def test_the_turn_waits_releases_its_session_and_goes_on_with_the_result() -> None:
    release = asyncio.Event()

    async def research(context: ToolContext, args: Topic) -> Json:
        await context.emit(_progress("running"))
        await release.wait()
        await context.emit(_progress("done"))
        return {"sights": 3}

    async with desk(_script, Tool("research", "", Topic, research, background=True)) as d:
        await d.say("Research Corfu", wait=False)
        for _ in range(200):
            if (await d.turns())[0].status == "waiting":
                break
            await asyncio.sleep(0.01)
        assert (await d.turns())[0].status == "waiting"
        # The person may go on meanwhile.
        await d.say("Are you there?", wait=False)
        for _ in range(200):
            if await d.texts():
                break
            await asyncio.sleep(0.01)
        assert await d.texts() == ["Still here."]
        release.set()
        await d.quiet()
        assert [part["data"]["status"] for part in await d.parts("progress")] == ["running", "done"]
        assert (await d.texts())[-1].startswith("Found")
        assert [turn.status for turn in await d.turns()] == ["settled", "settled"]


async def test_stopping_ends_a_waiting_turn_and_its_job_says_nothing_more() -> None:
    release = asyncio.Event()

    async def research(context: ToolContext, args: Topic) -> Json:
        await release.wait()
        await context.emit(_progress("done"))
        return {}

    async with desk(_script, Tool("research", "", Topic, research, background=True)) as d:
        await d.say("Research Corfu", wait=False)
        for _ in range(200):
            if (await d.turns())[0].status == "waiting":
                break
            await asyncio.sleep(0.01)
        from asgiref.sync import sync_to_async

        from envelopes import intake

        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        release.set()
        await d.quiet()
        (turn,) = await d.turns()
        assert (turn.status, turn.finalized_by) == ("settled", "cancelled")
        assert await d.parts("progress") == []


@pytest.mark.parametrize("how", ["stopped", "failed"])
async def test_a_tool_has_a_last_word_to_the_surface_that_it_was_filling(how: str) -> None:
    release, shown = asyncio.Event(), asyncio.Event()

    async def research(context: ToolContext, args: Topic) -> Json:
        await context.emit(_surface({"createSurface": {"surfaceId": context.call_id, "catalogId": CATALOG}}))
        await context.emit(_surface(_said(context.call_id, "Filling in")))
        shown.set()
        await release.wait()
        raise ToolFailed("The library is closed.")

    tool = Tool(
        "research",
        "",
        Topic,
        research,
        background=True,
        unfinished=lambda call_id, args: [_surface(_said(call_id, f"Stopped before {args.topic}"))],
    )
    async with desk(_script, tool) as d:
        await d.say("Research Corfu", wait=False)
        await asyncio.wait_for(shown.wait(), 5)
        if how == "stopped":
            for _ in range(500):
                if (await d.turns())[0].status == "waiting":
                    break
                await asyncio.sleep(0.01)
            await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        release.set()
        await d.quiet()
        # Before the row that settles the turn: nothing is appended to it after that.
        kinds = [row.kind for row in await d.rows()]
        html = await d.html()
    assert "Stopped before Corfu" in html
    assert "Filling in" not in html
    assert kinds[-1] == "settled"


@pytest.mark.parametrize("fault", ["unknown surface", "raises"])
async def test_a_last_word_that_does_not_fit_holds_nothing_up(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def research(context: ToolContext, args: Topic) -> Json:
        raise ToolFailed("The library is closed.")

    def unfinished(call_id: str, args: Topic) -> list[JsonObject]:
        if fault == "raises":
            raise KeyError(call_id)
        return [_surface(_said("never-shown", "Stopped"))]

    tool = Tool("research", "", Topic, research, background=True, unfinished=unfinished)
    with caplog.at_level("INFO", "envelopes.turns.emitting"):
        async with desk(_script, tool) as d:
            await d.say("Research Corfu")
            (turn,) = await d.turns()
            assert turn.status == "settled"
            assert (await d.texts())[-1].startswith("Found")
    assert "The last word of research" in caplog.text


async def test_a_job_stops_with_the_turn_that_still_runs() -> None:
    """Its result must not begin a turn that answers a question nobody asks any more."""
    release, asked = asyncio.Event(), asyncio.Event()

    async def research(context: ToolContext, args: Topic) -> Json:
        asked.set()
        await release.wait()
        return {}

    async def pause(context: ToolContext, args: Topic) -> Json:
        await release.wait()
        return {}

    def both(request: ModelRequest) -> Reply:
        if Conversation(request).replies:
            return Reply([Say([text("response", "Done.")])])
        return Reply([Call("research", {"topic": "Corfu"}), Call("pause", {"topic": "Corfu"})])

    tools = Tool("research", "", Topic, research, background=True), Tool("pause", "", Topic, pause)
    async with desk(both, *tools) as d:
        await d.say("Research Corfu", wait=False)
        await asyncio.wait_for(asked.wait(), 5)
        assert (await d.turns())[0].status == "running"
        from asgiref.sync import sync_to_async

        from envelopes import intake

        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        release.set()
        await d.quiet()
        (turn,) = await d.turns()
        assert (turn.status, turn.finalized_by) == ("settled", "cancelled")
