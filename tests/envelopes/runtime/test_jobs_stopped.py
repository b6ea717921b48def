"""Who stops a turn ends the code of its background jobs too, in whatever process they run."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pydantic import BaseModel

from envelopes import intake
from envelopes.log.append import writing
from envelopes.log.doorbell import doorbell
from envelopes.models import ToolCall, Turn
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.runtime import calling
from envelopes.runtime.tool_threads import tool_threads
from envelopes.turns.lifecycle import settle
from envelopes.types import Json
from tests.desk import Desk, desk, replies
from tests.envelopes.admin.pages import text_of, url, viewer

pytestmark = pytest.mark.django_db(transaction=True)

WAITS = [Say([text("ack", "Waiting.")], "awaiting")]


class Nothing(BaseModel):
    pass


@pytest.fixture(autouse=True)
def renewed_by_hand(settings: Any) -> None:
    """Nothing that a test sees comes of a renewal that it has not asked for."""
    settings.BEACH_LEASE_SECONDS = 600


async def _until(what: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came"
        await asyncio.sleep(0.01)


class Job:
    """A job that works until it is told to end, and what was seen of it."""

    def __init__(self, *, thread: bool = False, deaf: bool = False, idempotent: bool = True) -> None:
        self.began = 0
        self.ended: list[str] = []
        self.release = threading.Event()
        self.deaf = deaf

        async def run(context: ToolContext, args: Nothing) -> Json:
            self.began += 1
            while not self.release.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    if not self.deaf:
                        self.ended.append("told" if context.stopped else "cancelled")
                        raise
            return "late"

        def plain(context: ToolContext, args: Nothing) -> Json:
            self.began += 1
            while not self.release.wait(0.01):
                if context.stopped and not self.deaf:
                    self.ended.append("told")
                    return "half"
            return "late"

        self.tool = Tool("job", "", Nothing, plain if thread else run, background=True, idempotent=idempotent)


async def _waits(d: Desk) -> None:
    for _ in range(1000):
        if [turn.status for turn in await d.turns()] == ["waiting"]:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not wait")


@asynccontextmanager
async def at_work(job: Job) -> AsyncIterator[Desk]:
    try:
        async with desk(replies([Call("job")], WAITS), job.tool) as d:
            await d.say("go", wait=False)
            await _until(lambda: job.began)
            await _waits(d)
            try:
                yield d
            finally:
                job.release.set()
    finally:
        job.release.set()


async def _stop(d: Desk) -> None:
    await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize(
    ("idempotent", "ended"), [(True, ("failed", "cancelled")), (False, ("unknown", "outcome_unknown"))]
)
async def test_a_stop_ends_the_code_of_a_job(thread: bool, idempotent: bool, ended: tuple[str, str]) -> None:
    job = Job(thread=thread, idempotent=idempotent)
    async with at_work(job) as d:
        await _stop(d)
        await _until(lambda: job.ended == ["told"], 2)
        await d.quiet()
        (call,) = await d.calls()
        assert (call.state, call.error["code"], call.result) == (*ended, None)
        assert [one["ended"] for one in call.tries] == ["stopped"]
        assert d.runner._jobs.at_work == []
        await _until(lambda: tool_threads.left == 0)


@pytest.mark.parametrize("thread", [False, True])
async def test_code_that_does_not_end_is_on_record_as_such(
    thread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "GRACE_SECONDS", 0.05)
    job = Job(thread=thread, deaf=True, idempotent=False)
    async with at_work(job) as d:
        await _stop(d)
        await d.quiet()
        (call,) = await d.calls()
        assert call.state == "unknown" and "whether it took effect is not known" in call.error["message"]
        assert [(one["ended"], one["left"]) for one in call.tries] == [("stopped", True)]
        assert tool_threads.left == int(thread)

        def page() -> str:
            return text_of(viewer().get(url(call, "change")).content)

        assert (
            "did not end when it was told to, and may have taken effect later" in await sync_to_async(page)()
        )
    if thread:
        await _until(lambda: tool_threads.left == 0)


async def test_a_turn_that_ends_in_another_process_ends_its_jobs_here() -> None:
    """As where staff stop a turn that is at work there, while a job of it runs here."""
    job = Job()
    async with at_work(job) as d:
        await sync_to_async(Turn.objects.update)(status="running", lease_owner="other:1:1")

        def end() -> None:
            with writing(d.session.pk) as writer:
                turn = Turn.objects.select_related("session").get()
                settle(writer, turn, turn_state="error", finalized_by="cancelled")

        await sync_to_async(end)()
        await _until(lambda: job.ended == ["told"], 2)
        await d.quiet()


async def test_one_that_no_ring_reaches_ends_when_leases_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job()
    async with at_work(job) as d:
        monkeypatch.setattr(doorbell, "ring", lambda *args, **more: None)
        await _stop(d)
        await asyncio.sleep(0.1)
        assert job.ended == []
        await d.runner._renew_once()
        await _until(lambda: job.ended == ["told"], 2)
        await d.quiet()


async def test_one_that_another_process_has_taken_over_ends_here() -> None:
    job = Job()
    async with at_work(job) as d:
        await sync_to_async(ToolCall.objects.update)(
            lease_owner="other:1:1", attempt=2, lease_until=timezone.now()
        )
        await d.runner._renew_once()
        await _until(lambda: job.ended == ["told"], 2)
        await _until(lambda: not d.runner._jobs.at_work)
        (call,) = await d.calls()
        # What the other one does is its own to record.
        assert (call.state, call.attempt, call.tries) == ("running", 2, [])


async def test_one_whose_conversation_is_gone_ends() -> None:
    job = Job()
    async with at_work(job) as d:
        await sync_to_async(ToolCall.objects.all().delete)()
        await d.runner._renew_once()
        await _until(lambda: job.ended == ["told"], 2)
        await d.quiet()


async def test_a_job_that_nobody_stops_is_told_of_nothing() -> None:
    job = Job(thread=True)
    async with at_work(job) as d:
        await d.runner._renew_once()
        d.runner.wake(d.session.pk)
        await asyncio.sleep(0.1)
        assert job.ended == []
        job.release.set()
        await d.quiet()
        (call,) = await d.calls()
        assert (call.state, call.result) == ("succeeded", "late")
        assert [one["ended"] for one in call.tries] == ["returned"]


async def test_the_end_of_the_process_tells_a_thread() -> None:
    job = Job(thread=True)
    async with at_work(job) as d:
        await d.runner.stop()
        await _until(lambda: job.ended == ["told"], 2)
        (call,) = await d.calls()
        # Idempotent: whoever comes next runs it again.
        assert call.state == "running"
