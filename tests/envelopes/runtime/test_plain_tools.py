"""Tools that are plain functions: each call has a thread, and its turn goes on when its time is over."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from pydantic import BaseModel

from envelopes.errors import LeaseLost
from envelopes.models import Session
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests import factories
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Nothing(BaseModel):
    pass


async def _is(found: Callable[[], Any]) -> None:
    for _ in range(500):
        if found():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came")


async def test_a_plain_function_runs_beside_the_loop_and_its_connection_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[threading.Thread] = []
    opened: list[BaseDatabaseWrapper] = []
    closed: list[BaseDatabaseWrapper] = []
    close = BaseDatabaseWrapper.close

    def closing(self: BaseDatabaseWrapper) -> None:
        closed.append(self)
        close(self)

    # What is closed of a database in memory stays open.
    monkeypatch.setattr(BaseDatabaseWrapper, "close", closing)

    def run(context: ToolContext, args: Nothing) -> Json:
        found = Session.objects.get(public_id=context.session_id)
        threads.append(threading.current_thread())
        opened.append(connections["default"])
        async_to_sync(context.emit)(text("response", "Half of it."))
        return {"actor": found.actor}

    async with desk(replies([Call("plain")], DONE), Tool("plain", "", Nothing, run)) as d:
        await d.say("go")
        assert [(call.state, call.result) for call in await d.calls()] == [("succeeded", {"actor": "tester"})]
        assert await d.texts() == ["Half of it.", "Done."]
    assert threads[0] is not threading.main_thread() and not threads[0].is_alive()
    assert any(one is opened[0] for one in closed)


@pytest.mark.parametrize(("idempotent", "state"), [(True, "failed"), (False, "unknown")])
async def test_what_blocks_past_its_time_holds_nothing_up_and_is_not_heard(
    idempotent: bool, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    end = threading.Event()
    late: list[BaseException] = []

    def run(context: ToolContext, args: Nothing) -> Json:
        end.wait(20)
        try:
            async_to_sync(context.emit)(text("response", "I am still here!"))
        except LeaseLost as error:
            late.append(error)
        return "late"

    tool = Tool("blocks", "", Nothing, run, timeout=0.2, idempotent=idempotent)
    try:
        async with desk(replies([Call("blocks")], DONE), tool) as d:
            began = time.monotonic()
            await d.say("go")
            # No five seconds of grace: a thread cannot be told to end.
            assert time.monotonic() - began < 3
            assert await d.texts() == ["Done."]
            end.set()
            await _is(lambda: "its result is dropped" in caplog.text)
            (call,) = await d.calls()
            assert (call.state, call.result) == (state, None)
            assert len(late) == 1 and await d.texts() == ["Done."]
    finally:
        end.set()
    assert "The tool blocks does not end; it is left to itself." in caplog.text


@pytest.mark.parametrize("raised", [StopIteration(3), SystemExit(3), asyncio.CancelledError(), ValueError()])
async def test_a_plain_function_that_raises_has_failed(raised: BaseException) -> None:
    def run(context: ToolContext, args: Nothing) -> Json:
        raise raised

    async with desk(replies([Call("odd")], DONE), Tool("odd", "", Nothing, run)) as d:
        await d.say("go")
        assert [call.state for call in await d.calls()] == ["failed"]
        assert await d.texts() == ["Done."]


async def test_what_gives_something_to_wait_for_is_waited_for() -> None:
    async def really(context: ToolContext, args: Nothing) -> Json:
        await asyncio.sleep(0)
        return {"loop": threading.current_thread() is threading.main_thread()}

    class Calls:
        async def __call__(self, context: ToolContext, args: Nothing) -> Json:
            return await really(context, args)

    def wraps(context: ToolContext, args: Nothing) -> Any:
        return really(context, args)

    tools = [
        Tool("a", "", Nothing, wraps),
        Tool("b", "", Nothing, functools.partial(really)),
        Tool("c", "", Nothing, Calls()),
    ]
    async with desk(replies([Call("a"), Call("b"), Call("c")], DONE), *tools) as d:
        await d.say("go")
        assert [call.result for call in await d.calls()] == [{"loop": True}] * 3


async def test_an_async_function_that_blocks_is_named_in_the_log_and_what_it_did_is_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run(context: ToolContext, args: Nothing) -> Json:
        time.sleep(0.4)  # noqa: ASYNC251 - the fault
        return "done"

    caplog.set_level(logging.ERROR)
    async with desk(replies([Call("rude")], DONE), Tool("rude", "", Nothing, run, timeout=0.1)) as d:
        await d.say("go")
        assert [(call.state, call.result) for call in await d.calls()] == [("succeeded", "done")]
    assert "The tool rude blocked the event loop: it took 0.4 of 0.1 seconds." in caplog.text


async def test_a_tool_knows_whose_conversation_it_is() -> None:
    seen: list[tuple[Any, str]] = []

    def run(context: ToolContext, args: Nothing) -> Json:
        seen.append((context.user, context.owner_name))
        return {"groups": [group.name for group in context.user.groups.all()] if context.user else []}

    tool = Tool("who", "", Nothing, run)
    user = await sync_to_async(factories.make_user)("ada")
    owner = await sync_to_async(factories.make_principal)(user)
    async with desk(replies([Call("who")], DONE), tool, owner=owner) as d:
        await d.say("go")
        assert [call.state for call in await d.calls()] == ["succeeded"]
    async with desk(replies([Call("who")], DONE), tool) as d:
        await d.say("go")
        assert [call.state for call in await d.calls()] == ["succeeded"]
    assert [one for one, _ in seen] == [user, None]
    assert seen[1][1] == "Ada"
