"""What a ring costs a runner that is about to look anyway, and that none is lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes import intake
from envelopes.database_threads import in_session
from envelopes.models import Turn
from envelopes.providers.scripted import Conversation, Fail, Reply, Say, text
from envelopes.turns import journal, leases, sweeping
from tests import claiming, factories
from tests.desk import desk

pytestmark = pytest.mark.django_db(transaction=True)


def _echo(request: Any) -> Reply:
    return Reply([Say([text("response", f"{Conversation(request).text}!")], "complete")])


@pytest.fixture(autouse=True)
def _nobody_else_looks(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.BEACH_LEASE_SECONDS = 60.0
    monkeypatch.setattr(sweeping, "runnable_sessions", list)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked of the database: to claim, and whether a turn is to stop."""
    told: list[str] = []
    claim, look = leases.claim_next, leases.is_to_stop
    monkeypatch.setattr(leases, "claim_next", lambda *given: told.append("claim") or claim(*given))
    monkeypatch.setattr(leases, "is_to_stop", lambda *given: told.append("stop?") or look(*given))
    return told


async def test_whatever_rings_before_a_claim_has_looked_is_answered_by_that_claim(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep of a process that is busy finds what waits to be claimed here; so does the end of a turn. Asked for
    once more, each turn of somebody who answers at once would ask so much more, for ever."""
    claiming.only_from_the_queue(monkeypatch)
    async with desk(_echo) as d:
        release = threading.Event()
        in_session(d.session.pk, release.wait)
        await sync_to_async(intake.post_message)(d.session, d.owner, "m1", "Hello")
        for _ in range(3):
            d.runner.wake(d.session.pk)
        release.set()
        await d.quiet()

        assert await d.texts() == ["Hello!"]
        assert asked == ["claim"]


@pytest.mark.parametrize("words", [[], ["Hello"]], ids=["nothing", "a turn"])
async def test_what_is_said_after_a_claim_has_looked_is_claimed_next(
    words: list[str], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    claiming.only_from_the_queue(monkeypatch)
    async with desk(_echo) as d:
        found: list[object] = []
        claim = leases.claim_next

        def late(*given: Any) -> leases.Claim | None:
            claimed = claim(*given)
            if not found:
                intake.post_message(d.session, d.owner, "late", "Still there")
            found.append(claimed)
            return claimed

        monkeypatch.setattr(leases, "claim_next", late)
        for word in words:
            await d.say(word, wait=False)
        d.runner.wake(d.session.pk)
        await d.quiet()

        assert bool(found[0]) is bool(words)
        assert await d.texts() == [f"{word}!" for word in [*words, "Still there"]]


async def test_what_is_said_while_a_turn_is_on_its_way_to_the_runner_is_claimed_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with desk(_echo) as d:
        _once_committed(
            monkeypatch, lambda: intake.post_message(d.session, d.owner, "late", "Still there") and None
        )
        async with asyncio.timeout(20):
            await d.say("Hello")

        assert await d.texts() == ["Hello!", "Still there!"]


async def test_a_stop_that_rings_while_its_turn_is_on_its_way_to_the_runner_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with desk(lambda _: Reply([Fail("stall")])) as d:
        ways = claiming.recorded(monkeypatch)
        _once_committed(monkeypatch, lambda: intake.stop(d.session, d.owner, "stop") and None)
        async with asyncio.timeout(20):
            await d.say("Hello")
        (turn,) = await d.turns()

        assert ways == ["opened"]
        assert (turn.status, turn.finalized_by) == ("settled", "cancelled")


def _once_committed(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Have ``act`` done once, between the commit of a turn that is claimed where it is opened and its hand-over to the
    runner, and the runner hear of that before."""
    loop, started = asyncio.get_running_loop(), journal.started
    todo = [act]

    def then(*given: Any) -> None:
        started(*given)
        if todo:
            todo.pop()()
            for _ in range(5):
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(10)

    monkeypatch.setattr(journal, "started", then)


async def test_a_stop_that_rings_while_its_turn_is_claimed_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    claiming.only_from_the_queue(monkeypatch)
    claim = leases.claim_next

    async with desk(lambda _: Reply([Fail("stall")])) as d:

        def stopped(*given: Any) -> leases.Claim | None:
            claimed = claim(*given)
            if claimed is not None:
                intake.stop(d.session, d.owner, "stop")
            return claimed

        monkeypatch.setattr(leases, "claim_next", stopped)
        await d.say("Hello")
        (turn,) = await d.turns()

        assert (turn.status, turn.finalized_by) == ("settled", "cancelled")


def test_a_turn_is_to_stop_for_who_runs_it(turn: Turn) -> None:
    claim = leases.Claim(turn.pk, turn.session_id, attempt=3)
    assert not leases.is_to_stop(claim)
    Turn.objects.filter(pk=turn.pk).update(cancel_requested=True)
    assert leases.is_to_stop(claim)
    assert not leases.is_to_stop(leases.Claim(turn.pk, turn.session_id, attempt=2))


@pytest.fixture
def turn() -> Turn:
    made = factories.make_turn(factories.make_session())
    Turn.objects.filter(pk=made.pk).update(attempt=3, status="running")
    return made
