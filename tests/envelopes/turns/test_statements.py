"""What a whole turn asks of the database, its reader included, counted where the database takes it: so that growth is
seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from envelopes import intake
from envelopes.database_threads import in_session
from envelopes.delivery.follower import Follower
from envelopes.models import Event
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Conversation, Reply, Say, text
from envelopes.runtime import held_block
from envelopes.signals import turn_settled
from envelopes.tasks import end
from envelopes.transports.panel.reader import READER
from envelopes.transports.panel.transport import PANEL
from envelopes.turns import renewing, sweeping
from envelopes.types import JsonObject
from tests import claiming
from tests.desk import Desk, desk
from tests.envelopes.counted import counting

pytestmark = pytest.mark.django_db(transaction=True)


def _surface(name: str) -> JsonObject:
    root = {"id": "root", "component": "Text", "text": "Corfu"}
    messages = [
        {"version": "v0.9", "createSurface": {"surfaceId": name, "catalogId": "basic"}},
        {"version": "v0.9", "updateComponents": {"surfaceId": name, "components": [root]}},
    ]
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": messages}}


def _answer(request: ModelRequest) -> Reply:
    said = Conversation(request).text
    more = [_surface(said)] if said.startswith("surface") else []
    return Reply([Say([text("response", "Hello to you."), *more], "complete")])


@pytest.mark.parametrize("words", ["hello", "surface"])
@pytest.mark.parametrize(("way", "statements", "transactions"), [("opened", 9, 2), ("queued", 11, 3)])
async def test_a_turn_costs_nine_statements_in_two_transactions_or_two_more_and_one_from_the_queue(
    words: str,
    way: str,
    statements: int,
    transactions: int,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    """What somebody says (4): the session's numbers, the turn, its rows, what it was answered. The claim (2): whether
    the turn has to wait, what was said before; from the queue (4): numbers, the turn, what was said before, its row.
    The reply (3): numbers, the turn, its rows. Whoever reads along is given what was written."""
    if way == "queued":
        claiming.only_from_the_queue(monkeypatch)
    # However slow the machine is: no renewal and no sweep (the first one runs while the runner starts) falls into it,
    # and the end of a reply comes right after its last block.
    settings.BEACH_LEASE_SECONDS = 60.0
    monkeypatch.setattr(sweeping, "runnable_sessions", list)
    monkeypatch.setattr(held_block, "HOLD_SECONDS", 10.0)
    ways = claiming.recorded(monkeypatch)
    async with desk(_answer) as d, _reading(d):
        # The first one has no title yet, and nothing before it.
        await _say(d, "m1", f"{words} 1")
        read = await in_session(d.session.pk, counting)
        await _say(d, "m2", f"{words} 2")
        counts = await in_session(d.session.pk, read)

        assert ways == [way] * 2
        assert (counts.statements, counts.transactions) == (statements, transactions), dict(counts.verbs)
        kinds = [row.kind async for row in Event.objects.filter(session=d.session, turn=2)]
        assert kinds[0] == "turn" and kinds[-1] == "settled"


@asynccontextmanager
async def _reading(d: Desk) -> AsyncIterator[None]:
    follower = Follower(d.session, PANEL, READER)
    begun = asyncio.Event()

    async def read() -> None:
        async for _ in follower.follow(0):
            begun.set()

    task = asyncio.create_task(read())
    await begun.wait()
    yield
    assert not task.done()
    await end([task], seconds=5)
    follower.close()


async def _say(d: Desk, message_id: str, words: str) -> None:
    await in_session(d.session.pk, intake.post_message, d.session, d.owner, message_id, words)
    await d.quiet()


async def test_whoever_answers_at_once_does_not_have_the_turn_before_looked_up(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Readers hear of the end of a turn before its own run does."""
    asked: list[object] = []
    renew = renewing.renew

    def counted(*arguments: Any) -> Any:
        asked.append(arguments)
        return renew(*arguments)

    monkeypatch.setattr(renewing, "renew", counted)
    # However slow the machine is: the end of the reply is stored with its last block, no lease is renewed, and no sweep
    # (the first one runs while the runner starts) finds the turn that the bell has told of.
    monkeypatch.setattr(sweeping, "runnable_sessions", list)
    monkeypatch.setattr(held_block, "HOLD_SECONDS", 10.0)
    settings.BEACH_LEASE_SECONDS = 60.0
    async with desk(_answer) as d:

        def at_once(turn_id: str, **_: Any) -> None:
            if not asked_again:
                asked_again.append(turn_id)
                intake.post_message(d.session, d.owner, "m2", "hello again")

        asked_again: list[str] = []
        turn_settled.connect(at_once)
        try:
            await _say(d, "m1", "hello")
            await d.quiet()
        finally:
            turn_settled.disconnect(at_once)
        assert asked_again and asked == []
        ends = [row.turn async for row in Event.objects.filter(session=d.session, kind="settled")]
        assert ends == [1, 2]
