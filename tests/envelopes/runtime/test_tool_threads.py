"""So many calls of a reply at once, so many threads: beyond that a call waits, and then hears which limit it met."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import AsyncClient
from prometheus_client import REGISTRY
from pydantic import BaseModel

from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.runtime import tool_threads as module
from envelopes.runtime.tool_threads import NoThread, ToolThreads, tool_threads
from envelopes.types import Json
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Step(BaseModel):
    name: str


@pytest.fixture
def end() -> Iterator[threading.Event]:
    """Set when the test is over: what hangs until then ends."""
    told = threading.Event()
    yield told
    told.set()
    deadline = time.monotonic() + 10
    while tool_threads.at_work:
        assert time.monotonic() < deadline
        time.sleep(0.01)


async def _until(what: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came"
        await asyncio.sleep(0.01)


def _gauge(name: str) -> float:
    return REGISTRY.get_sample_value(name) or 0


async def test_so_many_calls_of_one_reply_run_at_once_and_all_of_them_in_the_end(settings: Any) -> None:
    settings.BEACH_TOOL_CALLS_AT_ONCE = 2
    now: list[str] = []
    most: list[int] = []

    async def run(context: ToolContext, args: Step) -> Json:
        now.append(args.name)
        most.append(len(now))
        await asyncio.sleep(0.03)
        now.remove(args.name)
        return args.name

    called = [Call("step", {"name": name}) for name in "abcde"]
    async with desk(replies(called, DONE), Tool("step", "", Step, run)) as d:
        await d.say("go")
        assert [call.result for call in await d.calls()] == [*"abcde"]
    assert max(most) == 2


async def test_calls_wait_for_a_thread_in_their_order(settings: Any, end: threading.Event) -> None:
    settings.BEACH_TOOL_THREADS = 1
    ran: list[str] = []

    def run(context: ToolContext, args: Step) -> Json:
        ran.append(args.name)
        time.sleep(0.02)
        return args.name

    called = [Call("step", {"name": name}) for name in "abc"]
    async with desk(replies(called, DONE), Tool("step", "", Step, run)) as d:
        await d.say("go")
        assert [call.state for call in await d.calls()] == ["succeeded"] * 3
    assert ran == [*"abc"] and (tool_threads.at_work, tool_threads.left) == (0, 0)


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("background", [True, False])
async def test_a_call_that_gets_no_thread_was_not_run_and_says_which_limit_it_met(
    idempotent: bool, background: bool, settings: Any, end: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BEACH_TOOL_THREADS = 1
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.1)
    ran: list[str] = []

    def run(context: ToolContext, args: Step) -> Json:
        ran.append(args.name)
        end.wait(20)
        return args.name

    held = await tool_threads.take(None)
    tool = Tool("step", "", Step, run, idempotent=idempotent, background=background)
    try:
        async with desk(replies([Call("step", {"name": "a"})], DONE), tool) as d:
            await d.say("go")
            (call,) = await d.calls()
    finally:
        held.free()
    assert (call.state, call.error["code"], call.error["limit"]) == (
        "failed",
        "no_thread",
        "BEACH_TOOL_THREADS",
    )
    assert (ran, call.tries) == ([], [])


async def test_threads_that_never_end_are_counted_and_refused_at_once_when_they_are_all(
    settings: Any, end: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    settings.BEACH_TOOL_THREADS = 2
    before = _gauge("beach_tool_threads_left")

    def run(context: ToolContext, args: Step) -> Json:
        end.wait(20)
        return args.name

    tools = [Tool("step", "", Step, run, timeout=0.1), Tool("later", "", Step, run)]
    called = [Call("step", {"name": name}) for name in "ab"]
    async with desk(replies(called, [Call("later", {"name": "c"})], DONE), *tools) as d:
        assert (await AsyncClient().get("/readyz")).status_code == 200
        await d.say("go")
        a, b, c = await d.calls()
        assert [call.error["code"] for call in (a, b, c)] == ["tool_timeout", "tool_timeout", "no_thread"]
        assert c.seconds is not None and c.seconds < 1
        assert [call.tries[0]["left"] for call in (a, b)] == [True, True]
        assert (tool_threads.left, _gauge("beach_tool_threads_left") - before) == (2, 2)
        assert "2 of 2 threads for tools are held so." in caplog.text
        assert "All 2 threads for tools are taken, 2 of them by calls that are over" in caplog.text
        answer = await AsyncClient().get("/readyz")
        assert (answer.status_code, answer.json()["problem"]) == (
            503,
            "every thread for tools is held by a call that does not end",
        )
        end.set()
        await _until(lambda: tool_threads.at_work == 0)
        assert (tool_threads.left, _gauge("beach_tool_threads_left")) == (0, before)
        assert (await AsyncClient().get("/readyz")).status_code == 200


@pytest.mark.parametrize("first", ["given", "cancelled"])
async def test_a_place_that_was_asked_for_in_vain_is_not_lost(first: str, settings: Any) -> None:
    settings.BEACH_TOOL_THREADS = 1
    threads = ToolThreads()
    held = await threads.take(None)
    with pytest.raises(NoThread):
        await threads.take(0.02)
    waiting = asyncio.create_task(threads.take(None))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    # Both before either hears of it.
    acts = [held.free, waiting.cancel]
    for act in acts if first == "given" else reversed(acts):
        act()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0.01)
    assert threads.at_work == 0
    (await threads.take(None)).free()
    held.free()
    assert threads.at_work == 0


async def test_more_may_become_allowed_while_one_waits(settings: Any) -> None:
    settings.BEACH_TOOL_THREADS = 1
    threads = ToolThreads()
    held = await threads.take(None)
    waiting = asyncio.create_task(threads.take(None))
    await asyncio.sleep(0)
    settings.BEACH_TOOL_THREADS = 3
    more = await threads.take(None)
    for slot in (held, more, await asyncio.wait_for(waiting, 2)):
        slot.free()
    assert threads.at_work == 0
