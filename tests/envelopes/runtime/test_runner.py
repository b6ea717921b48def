"""What the runner does when something near it goes wrong, and when the machine has slept."""

from __future__ import annotations

import asyncio
import math
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.utils import timezone
from pydantic import BaseModel

from envelopes import intake
from envelopes.database_threads import in_session
from envelopes.models import ToolCall, Turn
from envelopes.providers.scripted import Call, Conversation, Reply, Say, text
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.runtime import runner
from envelopes.runtime.runner import Runner
from envelopes.testing import create_session, idle
from envelopes.types import Json
from tests import factories
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Nothing(BaseModel):
    pass


async def test_a_turn_whose_lease_ran_out_while_the_machine_slept_is_not_taken_from_oneself() -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def book(context: object, args: Nothing) -> Json:
        begun.set()
        await release.wait()
        return "booked"

    async with desk(
        replies([Call("book", {})], DONE), Tool("book", "", Nothing, book, idempotent=False)
    ) as d:
        await d.say("Book it", wait=False)
        await asyncio.wait_for(begun.wait(), 5)
        await Turn.objects.aupdate(lease_until=timezone.now() - timedelta(hours=1))
        await d.runner._claim(d.session.pk)
        release.set()
        await d.quiet()
        (turn,) = await d.turns()
        (call,) = await d.calls()
        assert (turn.attempt, call.state, call.result) == (1, "succeeded", "booked")


async def test_an_approval_that_cannot_expire_keeps_no_queue_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> int:
        raise RuntimeError("a row that nobody can read")

    monkeypatch.setattr(runner, "due_approvals", broken)
    monkeypatch.setattr(runner.doorbell, "ring", lambda *args, **more: None)  # only the sweep may find it
    async with desk(replies(DONE)) as d:
        await d.say("Hello", wait=False)
        await d.quiet()
        assert await d.texts() == ["Done."]


@pytest.mark.parametrize("result", [math.nan, {"when": object()}, [[[[math.inf]]]]])
async def test_a_result_that_cannot_be_stored_does_not_undo_what_was_done(result: Any) -> None:
    async def book(context: object, args: Nothing) -> Json:
        return result

    async with desk(
        replies([Call("book", {})], DONE), Tool("book", "", Nothing, book, idempotent=False)
    ) as d:
        await d.say("Book it")
        (call,) = await d.calls()
        assert call.state == "succeeded"
        assert "cannot be shown" in call.result["note"]


async def test_a_fault_in_the_sentence_about_a_result_does_not_lose_it() -> None:
    async def book(context: object, args: Nothing) -> Json:
        return {"reference": "R-1"}

    policy = ApprovalPolicy(question=lambda args: "Book?", done=lambda args, result: str(result["missing"]))
    tool = Tool("book", "", Nothing, book, approval=policy, idempotent=False)
    async with desk(replies([Call("book", {})], DONE), tool) as d:
        await d.say("Book it")
        await d.decide("granted")
        (call,) = await d.calls()
        assert (call.state, call.result) == ("succeeded", {"reference": "R-1"})
        assert await d.texts() == ["Done."]


def _orphan(**fields: Any) -> ToolCall:
    """A job of an actor that is there no longer."""
    turn = factories.make_turn(factories.make_session(actor="retired"))
    Turn.objects.filter(pk=turn.pk).update(status="waiting")
    return factories.make_call(turn, state="running", background=True, **fields)


async def test_a_job_whose_actor_is_gone_is_taken_over_once_and_its_outcome_is_unknown() -> None:
    call = await sync_to_async(_orphan)()
    here = Runner()
    for _ in range(2):
        await here._sweep_once()
        await idle(here)

    await call.arefresh_from_db()
    assert (call.state, call.attempt) == ("unknown", 1)


async def test_a_job_whose_tool_is_gone_before_it_began_has_failed() -> None:
    call = await sync_to_async(_orphan)(attempt=1)
    here = Runner()
    here._jobs.start(call)
    await idle(here)

    await call.arefresh_from_db()
    assert (call.state, call.error["code"]) == ("failed", "tool_gone")


async def test_so_many_turns_run_at_once_and_of_the_others_the_oldest_is_next(settings: Any) -> None:
    settings.BEACH_TURNS_AT_ONCE = 2
    settings.BEACH_DATABASE_THREADS = 1
    running: list[str] = []
    most: list[int] = []
    begun: list[str] = []
    both, release = asyncio.Event(), asyncio.Event()

    async def think(context: object, args: Nothing) -> Json:
        name = str(getattr(context, "session_id", ""))
        begun.append(name)
        running.append(name)
        most.append(len(running))
        if len(running) == 2:
            both.set()
        await release.wait()
        running.remove(name)
        return "thought"

    def script(request: Any) -> Reply:
        return Reply([Call("think", {})] if not Conversation(request).calls else DONE)

    async with desk(script, Tool("think", "", Nothing, think)) as d:
        others = [await sync_to_async(create_session)(d.owner, "tester") for _ in range(5)]
        for number, session in enumerate([d.session, *others]):
            await in_session(session.pk, intake.post_message, session, d.owner, f"o{number}", "Think")
        await asyncio.wait_for(both.wait(), 10)
        release.set()
        await d.quiet()

        assert max(most) == 2
        # Two are under way at once, and either may be the first to think.
        order = [session.public_id for session in [d.session, *others]]
        assert sorted(begun) == sorted(order)
        assert all(abs(order.index(name) - at) <= 1 for at, name in enumerate(begun))


async def test_a_turn_whose_database_restarts_ends_properly_and_nothing_is_doubled() -> None:
    """While its tool runs, every connection of the product's threads is cut."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server that could restart")
    done: list[str] = []
    over = asyncio.Event()

    async def think(context: object, args: Nothing) -> Json:
        await asyncio.to_thread(_cut_everybody)
        done.append("thought")
        over.set()
        return "thought"

    def script(request: Any) -> Reply:
        return Reply([Call("think", {})] if not Conversation(request).calls else DONE)

    async with desk(script, Tool("think", "", Nothing, think, idempotent=False)) as d:
        await in_session(d.session.pk, intake.post_message, d.session, d.owner, "m1", "Think")
        await asyncio.wait_for(over.wait(), 10)
        await idle(d.runner)
        # That of the test itself is gone too.
        await sync_to_async(lambda: connection.close())()  # noqa: PLW0108 - the connection of that thread
        (turn,) = await d.turns()
        rows = await d.rows()

        assert (turn.status, turn.turn_state, turn.attempt, done) == ("settled", "complete", 1, ["thought"])
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        assert await d.texts() == ["Done."]


def _cut_everybody() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    finally:
        connection.close()
