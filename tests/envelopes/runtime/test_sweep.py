"""The sweep, the leases and the end of a runner, while somebody has a session locked or a thread is at work."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from django.utils import timezone

from envelopes.access import Principal
from envelopes.database_threads import beside_sessions, in_session
from envelopes.models import Approval, Session, Turn
from envelopes.providers.scripted import Reply, Say, text
from envelopes.runtime.runner import Runner
from envelopes.testing import idle
from envelopes.turns import leases
from envelopes.types import JsonObject
from tests import claiming, factories
from tests.desk import desk, replies
from tests.envelopes.counted import counting

pytestmark = pytest.mark.django_db(transaction=True)


def _two_due() -> tuple[Approval, Approval]:
    """Overdue approvals of two sessions that follow on each other, so that they have different threads."""
    ada = Principal(owner_key="a" * 64, name="Ada")
    first, second = (factories.make_approval(factories.make_session(ada), expires_after=-1) for _ in range(2))
    return first, second


async def test_an_approval_expires_in_the_thread_of_its_session_and_the_sweep_does_not_wait_for_it(
    settings: Any,
) -> None:
    settings.BEACH_DATABASE_THREADS = 2
    busy, free = await sync_to_async(_two_due)()
    gate, here = threading.Event(), Runner()
    working = in_session(busy.session_id, gate.wait, 20)
    try:
        async with asyncio.timeout(10):
            await here._sweep_once()
            await here._sweep_once()
            while here._expiring != {busy.approval_id}:  # noqa: ASYNC110 - it has no event for this
                await asyncio.sleep(0.005)
        assert [await _state(busy), await _state(free)] == ["pending", "expired"]
    finally:
        gate.set()
        await working
    await idle(here)
    assert await _state(busy) == "expired"


async def test_a_session_that_somebody_has_locked_is_left_out_until_the_next_sweep() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite locks no session by itself")
    locked, free = await sync_to_async(_two_due)()
    gate, here = threading.Event(), Runner()
    begun = threading.Event()
    holding = threading.Thread(target=_lock, args=(locked.session_id, begun, gate))
    holding.start()
    try:
        assert await asyncio.to_thread(begun.wait, 20)
        async with asyncio.timeout(10):
            await here._sweep_once()
            await idle(here)
            await beside_sessions(lambda: None)
        assert [await _state(locked), await _state(free)] == ["pending", "expired"]
    finally:
        gate.set()
        await asyncio.to_thread(holding.join)
    await here._sweep_once()
    await idle(here)
    assert await _state(locked) == "expired"


@pytest.mark.parametrize("begun", [True, False], ids=["under way", "in the queue"])
async def test_a_claim_that_is_made_while_the_runner_stops_keeps_no_lease(
    monkeypatch: pytest.MonkeyPatch, settings: Any, begun: bool
) -> None:
    settings.BEACH_LEASE_SECONDS = 600
    claiming.only_from_the_queue(monkeypatch)
    reached, gate = asyncio.Event(), threading.Event()
    loop, opening = asyncio.get_running_loop(), leases.opening_messages

    def slow(turn: Turn, **more: Any) -> list[JsonObject]:
        loop.call_soon_threadsafe(reached.set)
        # Through by itself, or nothing would be told apart: the stop has to wait.
        gate.wait(0.3)
        return opening(turn, **more)

    monkeypatch.setattr(leases, "opening_messages", slow)
    async with desk(replies(Reply([Say([text("response", "Hello")])]))) as d:
        if not begun:
            in_session(d.session.pk, gate.wait, 0.3)
        await d.say("Hello", wait=False)
        if begun:
            await asyncio.wait_for(reached.wait(), 10)
        else:
            await asyncio.sleep(0)
        await d.runner.stop()
        gate.set()
        await in_session(d.session.pk, lambda: None)

        (turn,) = await d.turns()
        assert turn.status == "queued" or turn.lease_until <= timezone.now()


async def test_a_turn_that_is_opened_while_the_runner_stops_keeps_no_lease_and_another_one_carries_on(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.BEACH_LEASE_SECONDS = 600
    reached, gate = asyncio.Event(), threading.Event()
    loop, opening = asyncio.get_running_loop(), leases.opening_messages

    def slow(turn: Turn, **more: Any) -> list[JsonObject]:
        loop.call_soon_threadsafe(reached.set)
        # Through by itself, or nothing would be told apart: the stop has to wait.
        gate.wait(0.3)
        return opening(turn, **more)

    monkeypatch.setattr(leases, "opening_messages", slow)
    async with desk(replies(Reply([Say([text("response", "Hello")])]))) as d:
        ways = claiming.recorded(monkeypatch)
        saying = asyncio.create_task(d.say("Hello", wait=False))
        await asyncio.wait_for(reached.wait(), 10)
        await d.runner.stop()
        gate.set()
        await saying

        (turn,) = await d.turns()
        assert (ways, turn.status) == (["opened"], "running")
        assert turn.lease_until <= timezone.now() and d.requests == []

        other = Runner("other:1:1")
        await other.start()
        async with asyncio.timeout(20):
            while await d.texts() != ["Hello"]:  # noqa: ASYNC110 - it has no event for this
                await asyncio.sleep(0.01)
        await idle(other)
        await other.stop()
        (turn,) = await d.turns()
        assert (turn.status, turn.attempt) == ("settled", 2)


async def test_a_sweep_asks_five_things_and_changes_nothing_where_nothing_is_due() -> None:
    here = Runner()
    # What is asked seldom is asked at first.
    await here._sweep_once()
    read = await beside_sessions(counting)
    await here._sweep_once()
    counts = await beside_sessions(read)

    assert (counts.statements, counts.transactions) == (5, 0), dict(counts.verbs)


async def _state(approval: Approval) -> str:
    return (await Approval.objects.aget(pk=approval.pk)).state


def _lock(session: int, begun: threading.Event, gate: threading.Event) -> None:
    """Hold the session's lock until the gate opens."""
    try:
        with transaction.atomic():
            Session.objects.select_for_update().get(pk=session)
            begun.set()
            gate.wait(20)
    finally:
        connection.close()
