"""One job in the background, stopped from two pages at the same moment, or just as it ends: one outcome, which both
pages are told."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.errors import BeachError
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class Nothing(BaseModel):
    """A tool without arguments."""


def _job(begun: asyncio.Event, go: asyncio.Event) -> Tool:
    async def work(context: ToolContext, args: Nothing) -> Json:
        begun.set()
        await go.wait()
        return {"done": True}

    return Tool("work", "Works.", Nothing, work, background=True)


async def _stop(d: Desk, name: str) -> str:
    try:
        await sync_to_async(intake.stop, thread_sensitive=False)(d.session, d.owner, name)
    except BeachError as error:
        return error.code
    return "stopped"


SCRIPT = (
    [Call("work")],
    [Say([text("ack", "At work.")], "awaiting")],
    [Say([text("response", "Done.")])],
)


@pytest.mark.parametrize("ends", [False, True], ids=["two stops", "a stop and its end"])
async def test_of_a_job_that_two_end_at_once_there_is_one_outcome(ends: bool) -> None:
    for _ in range(5):
        begun, go = asyncio.Event(), asyncio.Event()
        async with desk(replies(*SCRIPT), _job(begun, go)) as d:
            await d.say("Work", wait=False)
            await asyncio.wait_for(begun.wait(), 20)
            if ends:
                go.set()
                told = await asyncio.gather(_stop(d, "one"))
            else:
                told = await asyncio.gather(_stop(d, "one"), _stop(d, "two"))
            go.set()
            await d.quiet()
            (call,) = await d.calls()
            results = await d.rows("tool-result")
            turns = await d.turns()
            html = await d.html()

        assert len(results) == 1, [row.data for row in results]
        assert call.state in ("succeeded", "failed") and results[0].data["state"] == call.state
        assert call.state == "succeeded" or call.error["code"] == "cancelled"
        assert ends or told == ["stopped", "stopped"], "nobody is refused for the other one's sake"
        ended = {turn.finalized_by for turn in turns}
        # Whoever stops a moment after the end may find an answer.
        assert ended == {"cancelled"} or (ends and ended <= {"cancelled", "complete"}), (told, ended)
        assert "data-live" not in html
