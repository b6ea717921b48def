"""A conversation that is erased while somebody is at work in it: the work ends, and nothing has failed."""

from __future__ import annotations

import asyncio
import logging

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.models import Session
from envelopes.providers.scripted import Call, Say, ScriptedProvider, text
from envelopes.records.erasing import erase_conversation
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.desk import Script, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class Nothing(BaseModel):
    pass


@pytest.mark.parametrize("how", ["alone", "beside others", "in the background"])
async def test_a_tool_that_is_at_work(how: str, caplog: pytest.LogCaptureFixture) -> None:
    called, go_on = asyncio.Event(), asyncio.Event()

    async def run(context: ToolContext, args: Nothing) -> Json:
        called.set()
        await go_on.wait()
        return "late"

    tool = Tool(
        "look",
        "",
        Nothing,
        run,
        background=how == "in the background",
        concurrent=how == "beside others",
    )
    async with desk(replies([Call("look"), Call("look")], [Say([text("response", "Done.")])]), tool) as d:
        await d.say("Look", wait=False)
        await called.wait()
        # They wait for the turn, in which they would be read.
        await d.say("And hurry", wait=False)
        await sync_to_async(erase_conversation)(d.session.pk)
        d.runner.wake(d.session.pk)
        go_on.set()
        await d.quiet()
        assert len(d.requests) <= 2
    _nothing_failed(caplog)


async def test_a_model_that_is_writing(caplog: pytest.LogCaptureFixture) -> None:
    writing, go_on = asyncio.Event(), asyncio.Event()

    def provider(script: Script) -> ScriptedProvider:
        async def slowly(seconds: float) -> None:
            writing.set()
            await go_on.wait()

        return ScriptedProvider(script, pace=1, sleep=slowly)

    async with desk(replies([Say([text("response", "Here is what I found.")])]), provider=provider) as d:
        await d.say("Look", wait=False)
        await writing.wait()
        await sync_to_async(erase_conversation)(d.session.pk)
        go_on.set()
        await d.quiet()
        assert not await Session.objects.aexists()
    _nothing_failed(caplog)


def _nothing_failed(caplog: pytest.LogCaptureFixture) -> None:
    failed = [record for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]
    assert failed == [], [record.getMessage() for record in failed]
