"""A block that was complete, and read, is stored however its reply ends."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from django.db import OperationalError

from envelopes.database_threads import in_session
from envelopes.protocol.respond import RESPOND
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
)
from envelopes.providers.scripted import Reply
from envelopes.runtime import held_block, saving
from envelopes.runtime.saving import LiveSaver
from envelopes.runtime.streaming import LiveText
from envelopes.turns import reply, steps
from tests.desk import Desk, desk, replies
from tests.envelopes.runtime.test_saving import ONE, Gate, noted

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = "An answer that was read."
CALL = json.dumps(
    {"parts": [{"metadata": {"partType": "response"}, "text": ANSWER}], "turnState": "complete"}
)


class Model:
    """Answers with one respond() call; ``complete`` is awaited after it."""

    name = label = model = "model"

    def __init__(self, complete: Callable[[], Awaitable[None]]) -> None:
        self.complete = complete
        self.over = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield BlockStarted(0, "tool_use", "toolu_1", RESPOND)
        yield InputFragment(0, CALL)
        yield BlockEnded(0, "tool_use", {}, CALL)
        await self.complete()
        yield ReplyEnded("tool_use")
        # Asked for what comes next, in the same turn of the loop in which the end goes to the database.
        self.over.set()


async def _answered(d: Desk) -> tuple[list[str], str]:
    (turn,) = await d.turns()
    return await d.texts(), turn.finalized_by


async def test_a_stop_that_comes_while_the_end_is_being_stored_comes_too_late(settings: Any) -> None:
    settings.BEACH_DATABASE_THREADS = 1
    gate = threading.Event()

    async def another_session_works() -> None:
        in_session(999, gate.wait, 20)

    model = Model(another_session_works)
    async with desk(replies(Reply([])), provider=lambda _: model) as d:
        await d.say("Hello", wait=False)
        await asyncio.wait_for(model.over.wait(), 10)
        (run,) = d.runner._runs.values()
        run.cancelled.set()
        for _ in range(5):
            await asyncio.sleep(0)
        gate.set()
        await d.quiet()

        assert await _answered(d) == ([ANSWER], "complete")


async def test_a_process_that_is_told_to_end_stores_what_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_block, "HOLD_SECONDS", 60)
    complete = asyncio.Event()

    async def for_ever() -> None:
        complete.set()
        await asyncio.Event().wait()

    async with desk(replies(Reply([])), provider=lambda _: Model(for_ever)) as d:
        await d.say("Hello", wait=False)
        await asyncio.wait_for(complete.wait(), 10)
        await d.runner.stop()

        assert await d.texts() == [ANSWER]


async def test_a_fault_of_the_model_does_not_lose_what_it_had_said() -> None:
    async def fails() -> None:
        raise RuntimeError("a fault in the provider")

    async with desk(replies(Reply([])), provider=lambda _: Model(fails)) as d:
        await d.say("Hello")

        assert await _answered(d) == ([ANSWER], "error")


@pytest.mark.parametrize("committed", [False, True], ids=["before its commit", "after it"])
@pytest.mark.parametrize("where", ["block", "end"])
async def test_what_could_not_be_stored_is_stored_once_in_the_end(
    monkeypatch: pytest.MonkeyPatch, where: str, committed: bool
) -> None:
    module, name = (reply, "record") if where == "block" else (steps, "end_reply")
    work = getattr(module, name)

    def breaks(*args: Any, **options: Any) -> None:
        if committed:
            work(*args, **options)
        raise OperationalError("the connection was closed")

    monkeypatch.setattr(module, name, breaks)
    monkeypatch.setattr(held_block, "HOLD_SECONDS", 0 if where == "block" else 60)

    async def a_moment() -> None:
        await asyncio.sleep(0.01)

    async with desk(replies(Reply([])), provider=lambda _: Model(a_moment)) as d:
        await d.say("Hello")

        ended = "complete" if (where, committed) == ("end", True) else "error"
        assert await _answered(d) == ([ANSWER], ended)
        # The messages of a turn are stored with its first block, those before that block among them.
        (turn,) = await d.turns()
        assert ([message["role"] for message in turn.messages], turn.model) == (
            ["user", "assistant"],
            "model",
        )


async def test_a_stop_while_a_complete_text_waits_for_its_save_finds_that_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(saving, "SAVE_SECONDS", 0)
    gate = Gate(noted([]))
    live = LiveText(ONE, 1, "1-1-0-0", LiveSaver(gate))
    live.start(0, 10_000)
    live.feed(0, CALL)
    await gate.reached()
    ending = asyncio.create_task(live.end(0))
    await asyncio.sleep(0)
    ending.cancel()
    gate.open.set()
    await asyncio.wait({ending})

    assert ending.cancelled()
    assert [(part, text) for _, part, text, _ in live.partial()] == [("response", ANSWER)]
