"""Mistakes of whoever writes a provider: the log says which, in words of the port."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes import intake
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
)
from envelopes.runtime import hearing
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

CALL = '{"parts": [{"metadata": {"partType": "response"}, "text": "Hi."}], "turnState": "complete"}'


class Own:
    name = label = model = "own"


class Coroutine(Own):
    async def stream(self, request: ModelRequest) -> list[ModelEvent]:
        return [ReplyEnded("end_turn")]


class Generator(Own):
    def stream(self, request: ModelRequest) -> Iterator[ModelEvent]:
        yield ReplyEnded("end_turn")


class Objects(Own):
    async def stream(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
        yield {"type": "text", "text": "Hi."}


class WithoutBlockEnd(Own):
    """The first time."""

    def __init__(self, tries: list[int]) -> None:
        self._tries = tries

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self._tries.append(1)
        yield BlockStarted(0, "tool_use", id=f"call_{len(self._tries)}", name="respond")
        yield InputFragment(0, CALL)
        if len(self._tries) > 1:
            yield BlockEnded(0, "tool_use", raw_input=CALL)
        yield ReplyEnded("tool_use")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (Coroutine, "`stream` of Coroutine has to be an async generator"),
        (Generator, "`stream` of Generator has to be an async generator"),
        (
            Objects,
            "`stream` of Objects gave a dict, which is no event of envelopes.providers.port",
        ),
    ],
)
async def test_what_is_no_stream_of_events_is_named_once(
    made: type[Any], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is no failure of a model, which would be asked again and again."""
    with caplog.at_level(logging.ERROR):
        async with desk(replies([]), provider=lambda script: made()) as d:
            await d.say("Hello")
            parts = await d.parts("error")

    raised = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert [told in str(error) for error in raised] == [True]
    assert [part["data"]["code"] for part in parts] == ["internal"]


async def test_a_call_that_does_not_end_is_a_stream_that_broke_off(settings: Any) -> None:
    settings.BEACH_MODEL_RETRY_SECONDS = 0
    tries: list[int] = []
    async with desk(replies([]), provider=lambda script: WithoutBlockEnd(tries)) as d:
        await d.say("Hello")
        failed = [row.data["error"] for row in await d.rows("provider") if "error" in row.data]
        texts = await d.texts()

    assert [(error["kind"], error["detail"]) for error in failed] == [
        ("malformed", "The stream has a call that began and does not end.")
    ]
    assert texts == ["Hi."]


class Deaf(Own):
    """Takes a cancellation for an error of its own, and goes on when it is let to."""

    def __init__(self) -> None:
        self.asked, self.goes_on, self.over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        try:
            yield BlockStarted(0, "tool_use", id="call_1", name="respond")
            self.asked.set()
            while not self.goes_on.is_set():
                try:
                    await self.goes_on.wait()
                except asyncio.CancelledError:
                    continue
            yield InputFragment(0, CALL)
            yield BlockEnded(0, "tool_use", raw_input=CALL)
            yield ReplyEnded("tool_use")
        finally:
            self.over.set()


async def test_whoever_stops_a_model_that_does_not_end_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hearing, "GRACE_SECONDS", 0.05)
    deaf = Deaf()
    async with desk(replies([]), provider=lambda script: deaf) as d:
        await d.say("Hello", wait=False)
        async with asyncio.timeout(30):
            await deaf.asked.wait()
        await sync_to_async(intake.stop)(d.session, d.owner, d.id())
        await d.quiet(seconds=30)
        (turn,) = await d.turns()
        assert turn.finalized_by == "cancelled"
        deaf.goes_on.set()
        async with asyncio.timeout(30):
            await deaf.over.wait()
        assert await d.texts() == [], "what it says then, it says to nobody"

    assert "The stream of own does not end; it is left to itself." in caplog.text
