"""Tools and models that end in ways that nobody expects: the turn ends too, and so does nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.errors import LeaseLost
from envelopes.providers.port import ModelEvent, ModelRequest
from envelopes.providers.scripted import Call, Say, ScriptedProvider, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.runtime import calling
from envelopes.types import Json
from tests.desk import Script, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Nothing(BaseModel):
    pass


class Odd(BaseException):
    pass


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize(
    "raised", [asyncio.CancelledError(), SystemExit(3), Odd(), BaseExceptionGroup("g", [Odd()])]
)
async def test_a_tool_that_raises_what_is_no_exception_fails_once(
    raised: BaseException, background: bool
) -> None:
    ran = []

    async def run(context: ToolContext, args: Nothing) -> Json:
        ran.append(1)
        raise raised

    tool = Tool("odd", "", Nothing, run, background=background)
    async with desk(replies([Call("odd")], DONE), tool) as d:
        await d.say("go")
        assert [call.state for call in await d.calls()] == ["failed"]
        assert [turn.status for turn in await d.turns()][:1] == ["settled"]
        assert len(ran) == 1
        assert "Done." in await d.texts()


async def test_a_tool_that_does_not_end_when_told_to_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calling, "GRACE_SECONDS", 0.05)
    end, gone = asyncio.Event(), asyncio.Event()
    later: list[BaseException] = []

    async def run(context: ToolContext, args: Nothing) -> Json:
        while not end.is_set():
            try:
                await asyncio.wait_for(end.wait(), 30)
            except asyncio.CancelledError:
                continue
        try:
            await context.emit(text("response", "I am still here!"))
        except LeaseLost as error:
            later.append(error)
        gone.set()
        return "late"

    async with desk(replies([Call("deaf")], DONE), Tool("deaf", "", Nothing, run, timeout=0.1)) as d:
        await d.say("go")
        assert [call.state for call in await d.calls()] == ["failed"]
        assert await d.texts() == ["Done."]
        end.set()
        await asyncio.wait_for(gone.wait(), 5)
        assert len(later) == 1
        assert await d.texts() == ["Done."]


async def test_a_provider_that_is_cancelled_from_within_is_asked_again() -> None:
    class Flaky(ScriptedProvider):
        asked = 0

        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            Flaky.asked += 1
            if Flaky.asked == 1:
                raise asyncio.CancelledError
            async for event in super().stream(request):
                yield event

    def provider(script: Script) -> Any:
        return Flaky(script, pace=0)

    async with desk(replies(DONE), provider=provider) as d:
        await d.say("go")
        assert await d.texts() == ["Done."]
        assert [turn.attempt for turn in await d.turns()] == [1]
