"""Streamed text is kept for whoever connects meanwhile, and no stream waits for that (D35)."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connections

from envelopes.database_threads import beside_sessions
from envelopes.delivery.deltas import Delta, deltas
from envelopes.log.backends.connection import open_connection
from envelopes.models import Turn
from envelopes.providers.scripted import Reply, Say, text
from envelopes.runtime import saving
from envelopes.runtime.saving import LiveSaver
from envelopes.runtime.streaming import LiveText
from envelopes.turns import reply
from envelopes.turns.leases import Claim, save_live
from envelopes.types import JsonObject
from tests.desk import desk, replies
from tests.envelopes.log.databases import make_session, make_turn

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

STEPS = 20
"""How many turns of the event loop are enough for everything that waits for nothing else."""


def said(words: str) -> JsonObject:
    return {"L1-1-0-0-0-0": {"turn": 1, "partType": "response", "text": words}}


def running(alias: str) -> Claim:
    turn = make_turn(make_session(alias))
    return Claim(turn.pk, turn.session_id, turn.attempt)


def kept(claim: Claim, alias: str = "default") -> JsonObject:
    live: JsonObject = Turn.objects.using(alias).get(pk=claim.turn_pk).live
    return live


async def settled(saver: LiveSaver) -> None:
    async with asyncio.timeout(10):
        while not saver.idle:  # noqa: ASYNC110 - it has no event for this
            await asyncio.sleep(0.005)


class Gate:
    """A write that waits in its thread until it is let through, and what it was given."""

    def __init__(self, write: Callable[[Mapping[Claim, JsonObject]], set[Claim]] = save_live) -> None:
        self.write = write
        self.given: list[dict[Claim, JsonObject]] = []
        self.open = threading.Event()
        self._reached = threading.Event()

    def __call__(self, live: Mapping[Claim, JsonObject]) -> set[Claim]:
        self.given.append(dict(live))
        self._reached.set()
        assert self.open.wait(20), "nobody opened the gate"
        return self.write(live)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._reached.wait, 20), "nothing was written"


def noted(given: list[dict[Claim, JsonObject]]) -> Callable[[Mapping[Claim, JsonObject]], set[Claim]]:
    def write(live: Mapping[Claim, JsonObject]) -> set[Claim]:
        given.append(dict(live))
        return set(live)

    return write


ONE, TWO = Claim(1, 1, 1), Claim(2, 2, 1)


# -- the statement ----------------------------------------------------------------------------------------------------


async def test_the_text_of_two_streams_is_saved_in_one_statement(alias: str) -> None:
    statements: list[str] = []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return execute(sql, *rest)

    def write(live: Mapping[Claim, JsonObject]) -> set[Claim]:
        with closing(connections[alias]) as connection, connection.execute_wrapper(count):
            return save_live(live, alias)

    first, second = [await sync_to_async(running)(alias) for _ in range(2)]
    saver = LiveSaver(write)
    saver.grew(first, lambda: said("one \U0001f600 \\u0000 100 % 'quoted'"))
    saver.grew(second, lambda: said("two"))
    await settled(saver)

    assert len(statements) == 1
    assert await sync_to_async(kept)(first, alias) == said("one \U0001f600 \\u0000 100 % 'quoted'")
    assert await sync_to_async(kept)(second, alias) == said("two")


@pytest.mark.parametrize(
    "after",
    [{"attempt": 2}, {"status": "settled"}, {"status": "waiting"}],
    ids=["taken over", "over", "waiting"],
)
def test_the_text_of_a_runner_that_was_overtaken_is_not_saved(alias: str, after: dict[str, Any]) -> None:
    lost, held = running(alias), running(alias)
    Turn.objects.using(alias).filter(pk=lost.turn_pk).update(**after)

    assert save_live({lost: said("late"), held: said("in time")}, alias) == {held}
    assert (kept(lost, alias), kept(held, alias)) == ({}, said("in time"))


@pytest.mark.parametrize("alias", ["postgresql"], indirect=True)
def test_a_turn_that_somebody_has_locked_keeps_no_other_waiting(alias: str) -> None:
    locked, free = running(alias), running(alias)
    with closing(open_connection(alias)) as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT id FROM envelopes_turn WHERE id = %s FOR UPDATE", [locked.turn_pk])
        assert save_live({locked: said("one"), free: said("two")}, alias) == {free}
        cursor.execute("ROLLBACK")

    assert save_live({locked: said("one")}, alias) == {locked}
    assert (kept(locked, alias), kept(free, alias)) == (said("one"), said("two"))


# -- when it is written -----------------------------------------------------------------------------------------------


async def test_a_text_is_saved_a_while_after_it_began_and_not_at_all_when_it_is_over_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[dict[Claim, JsonObject]] = []
    saver = LiveSaver(noted(given))
    saver.grew(TWO, lambda: said("over at once"))
    saver.grew(ONE, lambda: said("o"))
    assert not saver.idle
    await saver.over(TWO)
    await settled(saver)
    assert given == [{ONE: said("o")}]

    monkeypatch.setattr(saving, "SAVE_SECONDS", 3600)
    saver.grew(ONE, lambda: said("one"))
    for _ in range(STEPS):
        await asyncio.sleep(0)
    assert not saver.idle
    await saver.stop()
    assert saver.idle
    assert given == [{ONE: said("o")}]


async def test_the_next_write_waits_longer_the_longer_one_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "SHARE", 1e9)
    given: list[dict[Claim, JsonObject]] = []
    saver, time = LiveSaver(noted(given)), asyncio.get_running_loop().time
    for longest, least in ((0.0, 0.0), (3600.0, 3000.0)):
        monkeypatch.setattr(saving, "MOST_SECONDS", longest)
        saver.grew(ONE, lambda: said("one"))
        await settled(saver)
        assert least < saver._due_at - time() <= max(longest, saving.SAVE_SECONDS)
    await saver.stop()


async def test_a_write_that_fails_is_tried_again_with_the_text_of_then(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(saving, "SAVE_SECONDS", 0.01)
    caplog.set_level(logging.INFO, saving.__name__)
    claim, other = [await sync_to_async(running)("default") for _ in range(2)]
    words, tries = "a", []

    def write(live: Mapping[Claim, JsonObject]) -> set[Claim]:
        nonlocal words
        tries.append(len(live))
        if len(tries) <= 3:
            words += "b"
            raise OperationalError("no route to host")
        return save_live(live)

    saver = LiveSaver(write)
    saver.grew(claim, lambda: said(words))
    saver.grew(other, lambda: said("other"))
    await settled(saver)

    assert tries == [2, 2, 2, 2]
    assert await sync_to_async(kept)(claim) == said("abbb")
    assert await sync_to_async(kept)(other) == said("other")
    assert [record.levelname for record in caplog.records if record.name == saving.__name__] == [
        "ERROR",
        "INFO",
    ]


async def test_while_the_database_is_away_only_the_newest_text_of_a_turn_is_held() -> None:
    gate = Gate(noted([]))
    saver = LiveSaver(gate)
    saver.grew(ONE, lambda: said("first"))
    await gate.reached()
    for number in range(100):
        saver.grew(ONE, lambda number=number: said(f"one {number}"))  # type: ignore[misc]
        saver.grew(TWO, lambda number=number: said(f"two {number}"))  # type: ignore[misc]
    gate.open.set()
    await settled(saver)

    assert gate.given == [{ONE: said("first")}, {ONE: said("one 99"), TWO: said("two 99")}]


# -- where it ends ----------------------------------------------------------------------------------------------------


async def test_what_is_over_is_not_written_again_and_nothing_else_is_held_up_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(saving, "SAVE_SECONDS", 0.01)

    def fails(live: Mapping[Claim, JsonObject]) -> set[Claim]:
        if len(gate.given) == 1:
            raise OperationalError("no route to host")
        return set(live)

    gate = Gate(fails)
    saver = LiveSaver(gate)
    saver.grew(ONE, lambda: said("one"))
    await gate.reached()
    saver.grew(TWO, lambda: said("two"))
    # Not on its way: there is nothing to wait for.
    await saver.over(TWO)
    over = asyncio.create_task(saver.over(ONE))
    for _ in range(STEPS):
        await asyncio.sleep(0)
    assert not over.done()
    gate.open.set()
    await over
    await settled(saver)
    assert gate.given == [{ONE: said("one")}]


async def test_a_slow_write_stores_nothing_over_the_end_of_its_text() -> None:
    """The write has a thread and a connection of its own, so that nothing but the saver keeps the order."""
    call: JsonObject = {
        "parts": [{"metadata": {"partType": "response"}, "text": "Hello"}],
        "turnState": "complete",
    }

    async def grow() -> None:
        live.start(0, 10_000)
        live.feed(0, json.dumps(call))
        await settled(saver)

    async def finish() -> None:
        bubbles = await live.end(0)
        assert await sync_to_async(reply.record)(claim, turn, reply.Respond("toolu_1", call, bubbles)) is None

    async with desk(replies(Reply([]))) as d:
        await d.runner.stop()
        turn = await sync_to_async(make_turn)(d.session)
        turn.actor, turn.messages = "tester", [{"role": "user", "content": []}]
        await turn.asave()
        claim, gate = Claim(turn.pk, d.session.pk, 1), Gate()
        saver = LiveSaver(gate)
        live = LiveText(claim, 1, "1-1-0-0", saver)
        growing = asyncio.create_task(grow())
        await gate.reached()
        finishing = asyncio.create_task(finish())
        # Long enough for a record that waits for nothing.
        await asyncio.wait({finishing}, timeout=0.5)
        gate.open.set()
        await asyncio.gather(growing, finishing)

        assert gate.given == [{claim: said("Hello")}]
        assert await sync_to_async(kept)(claim) == {}
        assert await d.texts() == ["Hello"]


async def test_text_goes_on_while_the_database_is_blocked_and_none_of_it_is_left_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(saving, "SAVE_SECONDS", 0)
    words = "It goes on and on, whatever the database does. " * 5
    whole = asyncio.Event()
    told: list[str] = []

    def hear(delta: Delta) -> None:
        told.append(delta.text)
        if "".join(told) == words:
            whole.set()

    async with desk(replies(Reply([Say([text("response", words)])]))) as d:
        gate = Gate()
        d.runner.saver = LiveSaver(gate)
        deaf = deltas.subscribe(d.session.pk, hear)
        try:
            await d.say("Go on.", wait=False)
            await gate.reached()
            async with asyncio.timeout(10):
                await whole.wait()
            assert not gate.open.is_set()
            gate.open.set()
            await d.quiet()
        finally:
            gate.open.set()
            deaf()
        (turn,) = await d.turns()
        assert (turn.status, turn.live) == ("settled", {})
        assert await d.texts() == [words]
        assert d.runner.saver.idle


@pytest.mark.parametrize("opened", [True, False], ids=["in time", "not in time"])
async def test_nothing_is_left_of_it_after_a_stop(monkeypatch: pytest.MonkeyPatch, opened: bool) -> None:
    monkeypatch.setattr(saving, "STOP_SECONDS", 5 if opened else 0.05)
    gate = Gate(noted([]))
    saver = LiveSaver(gate)
    try:
        saver.grew(ONE, lambda: said("one"))
        await gate.reached()
        saver.grew(TWO, lambda: said("two"))
        stopping = asyncio.create_task(saver.stop())
        await asyncio.sleep(0)
        if opened:
            gate.open.set()
        await stopping
        assert saver.idle
        saver.grew(TWO, lambda: said("more"))
        assert saver.idle
        assert (saver._grown, saver._again, saver._on_its_way) == ({}, {}, frozenset())
    finally:
        gate.open.set()
    await beside_sessions(lambda: None)
    assert gate.given == [{ONE: said("one")}]
