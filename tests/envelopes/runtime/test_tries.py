"""A tool that may run twice is tried again by itself: so often, on what it names, within its time, and on record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.errors import LeaseLost, ToolFailed
from envelopes.models import ToolCall
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.retries import Retry
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.desk import desk, replies
from tests.envelopes.admin.pages import text_of, url, viewer

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Nothing(BaseModel):
    pass


PASSES = Retry((OSError,), wait=0.01)


class Line:
    """A tool that fails with these, one after the other, then gives how often it ran."""

    def __init__(self, *raised: BaseException, thread: bool = False) -> None:
        self.raised = list(raised)
        self.ran = 0
        self.thread = thread

    def _next(self) -> Json:
        self.ran += 1
        if self.raised:
            raise self.raised.pop(0)
        return self.ran

    def tool(self, retry: Retry | None = PASSES, **options: Any) -> Tool:
        def plain(context: ToolContext, args: Nothing) -> Json:
            return self._next()

        async def run(context: ToolContext, args: Nothing) -> Json:
            return self._next()

        return Tool("line", "", Nothing, plain if self.thread else run, retry=retry, **options)


def _tries(call: ToolCall) -> list[tuple[str, str, float | None]]:
    return [(one["ended"], one.get("error", ""), one.get("waited")) for one in call.tries]


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("background", [False, True])
async def test_what_passes_is_tried_again_after_twice_as_long_and_recorded(
    thread: bool, background: bool
) -> None:
    line = Line(ConnectionError("secret"), TimeoutError(), thread=thread)
    async with desk(replies([Call("line")], DONE), line.tool(background=background)) as d:
        await d.say("go")
        (call,) = await d.calls()
    assert (call.state, call.result, call.attempt) == ("succeeded", 3, 1)
    assert _tries(call) == [
        ("raised", "ConnectionError", 0.01),
        ("raised", "TimeoutError", 0.02),
        ("returned", "", None),
    ]
    assert all(0 <= one["seconds"] < 5 for one in call.tries)

    def page() -> str:
        return text_of(viewer().get(url(call, "change")).content)

    shown = await sync_to_async(page)()
    assert ": ConnectionError." in shown and "Tried again after 0.02 s." in shown and "secret" not in shown


@pytest.mark.parametrize(
    ("raised", "retry", "code"),
    [
        ((ValueError(),), Retry((OSError,)), "tool_failed"),
        ((ToolFailed("No."),), Retry((OSError,)), "tool_failed"),
        ((OSError(),), None, "tool_failed"),
        ((asyncio.CancelledError(),), Retry((OSError,)), "tool_failed"),
        ((SystemExit(),), Retry((ToolFailed,)), "tool_failed"),
    ],
)
async def test_nothing_else_is(raised: tuple[BaseException, ...], retry: Retry | None, code: str) -> None:
    line = Line(*raised)
    async with desk(replies([Call("line")], DONE), line.tool(retry)) as d:
        await d.say("go")
        (call,) = await d.calls()
    assert (call.state, call.error["code"], line.ran, len(call.tries)) == ("failed", code, 1, 1)


async def test_what_keeps_failing_has_failed_after_so_many_tries() -> None:
    line = Line(*(ConnectionError() for _ in range(9)))
    async with desk(replies([Call("line")], DONE), line.tool(Retry((OSError,), times=3, wait=0))) as d:
        await d.say("go")
        (call,) = await d.calls()
    assert (call.state, call.error["code"], line.ran) == ("failed", "tool_failed", 4)
    assert [one.get("waited") for one in call.tries] == [0, 0, 0, None]


async def test_a_lease_that_is_lost_is_no_passing_fault() -> None:
    line = Line(LeaseLost(), LeaseLost())
    async with desk(replies([Call("line")], DONE), line.tool(Retry((LeaseLost,), wait=0))) as d:
        await d.say("go", wait=False)
        for _ in range(200):
            await asyncio.sleep(0.01)
            if line.ran and not d.runner._runs:
                break
        assert line.ran == 1
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")


async def test_a_wait_that_would_outlast_the_time_is_not_begun() -> None:
    line = Line(*(ConnectionError() for _ in range(9)))
    tool = line.tool(Retry((OSError,), times=5, wait=30), timeout=5)
    async with desk(replies([Call("line")], DONE), tool) as d:
        began = time.monotonic()
        await d.say("go")
        assert time.monotonic() - began < 3
        (call,) = await d.calls()
    assert (call.error["code"], line.ran, _tries(call)) == (
        "tool_failed",
        1,
        [("raised", "ConnectionError", None)],
    )


async def test_all_tries_share_the_time_of_the_call() -> None:
    ran: list[float] = []

    async def run(context: ToolContext, args: Nothing) -> Json:
        ran.append(time.monotonic())
        await asyncio.sleep(0.12)
        raise ConnectionError

    tool = Tool("slow", "", Nothing, run, retry=Retry((OSError,), times=9, wait=0), timeout=0.3)
    async with desk(replies([Call("slow")], DONE), tool) as d:
        await d.say("go")
        (call,) = await d.calls()
    assert call.error["code"] == "tool_timeout" and len(ran) == 3
    assert [one["ended"] for one in call.tries] == ["raised", "raised", "timeout"]


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("thread", [False, True])
async def test_a_stop_cuts_the_wait(background: bool, thread: bool, caplog: pytest.LogCaptureFixture) -> None:
    line = Line(ConnectionError(), thread=thread)
    waits = [Say([text("ack", "Waiting.")], "awaiting")]
    tool = line.tool(Retry((OSError,), wait=20), background=background)
    async with desk(replies([Call("line")], waits), tool) as d:
        await d.say("go", wait=False)
        await _until(lambda: line.ran)
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()
        assert time.monotonic() - began < 3
        (call,) = await d.calls()
    assert (call.state, call.error["code"], line.ran) == ("failed", "cancelled", 1)
    assert [(one["ended"], one["waited"]) for one in call.tries] == [("raised", 20)]
    assert "does not end" not in caplog.text


async def _until(what: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came"
        await asyncio.sleep(0.01)
