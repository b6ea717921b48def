"""A turn is claimed in the transaction that opens it where a runner of the process has a place for it."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from pydantic import BaseModel

from a2ui.compose import Button, Column, Surface, Text, TextField, event, path
from envelopes import intake
from envelopes.access import Principal
from envelopes.errors import BeachError
from envelopes.intake.fields import SurfaceRefused
from envelopes.log import append
from envelopes.log.doorbell import doorbell
from envelopes.models import Session, Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import Tool
from envelopes.runtime.runner import Runner
from envelopes.testing import create_session, idle
from envelopes.turns import leases, sweeping
from envelopes.turns.leases import Claim
from envelopes.turns.places import Place, places
from envelopes.types import Json, JsonObject
from tests import claiming, factories
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DEAD = f"{socket.gethostname()}:{os.getpid()}:0"
"""Who holds a lease and is certainly gone: nothing with this number began then."""

WAYS = pytest.mark.parametrize("way", ["opened", "queued"])


class Nothing(BaseModel):
    pass


def _echo(request: ModelRequest) -> Reply:
    return Reply([Say([text("response", f"{Conversation(request).text}!")], "complete")])


@pytest.fixture(autouse=True)
def _no_sweep(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.BEACH_LEASE_SECONDS = 60.0
    monkeypatch.setattr(sweeping, "runnable_sessions", list)


# -- the same either way ------------------------------------------------------------------------------------------


def _trip() -> JsonObject:
    # Keys in an order that PostgreSQL does not keep.
    button = Button(Text("Book"), event("book", zulu=1, b=path("/to"), passengers=2.50))
    shown = Column(TextField("To", value=path("/to")), button)
    created = Surface("trip", shown, {"to": "Corfu", "b": 1}, send_data_model=True).create()
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": created}}


def _script(request: ModelRequest) -> Reply:
    said = Conversation(request).text
    if said == "show":
        return Reply([Say([text("response", "Here."), _trip()], "complete")])
    return Reply([Say([text("response", f"{said}!")], "complete")])


async def _talked(way: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str], list[Any]]:
    """How the turns of a conversation were claimed, the rows of its log, and the messages of its requests; without ids
    and times."""
    with monkeypatch.context() as patch:
        if way == "queued":
            claiming.only_from_the_queue(patch)
        ways = claiming.recorded(patch)
        async with desk(_script) as d:
            await d.say("hello")
            await d.say("show")
            page = await d.html()
            await d.act(_button_of(page))
            await d.say("thanks")
            await sync_to_async(intake.post_message)(
                d.session, d.owner, "parts", "these", parts=[data("domain-data", {"b": 1}, dataKind="seat")]
            )
            await d.quiet()
            await d.say("bye")
            ids = {turn.public_id: f"turn {turn.number}" for turn in await d.turns()}
            ids[d.session.public_id] = "session"
            rows = [
                f"{row.kind} {row.part_type} {row.actor} {row.turn} {row.audience} {row.data}"
                for row in await d.rows()
            ]
            return (
                ways,
                [_plain(row, ids) for row in rows],
                [json.loads(_plain(json.dumps(request.messages), ids)) for request in d.requests],
            )


def _button_of(page: str) -> str:
    return page.partition('class="a2-btn"')[0].rpartition('id="')[2].split('"')[0]


def _plain(written: str, ids: dict[str, str]) -> str:
    for public_id, name in ids.items():
        written = written.replace(public_id, name)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "then", written)


async def test_the_log_and_what_models_read_are_the_same_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    ways, rows, requests = await _talked("opened", monkeypatch)
    others, rows_of_others, requests_of_others = await _talked("queued", monkeypatch)

    # What came with a message may be on screen by now: such a turn is queued.
    assert ways == ["opened", "opened", "opened", "opened", "queued", "opened"]
    assert others == ["queued"] * 6
    assert rows == rows_of_others
    assert requests == requests_of_others
    assert '\\"zulu\\"' in json.dumps(requests[2]) and "Corfu" in json.dumps(requests[1:3])


@WAYS
async def test_a_click_is_told_to_later_turns_in_the_words_in_which_its_own_turn_was_told(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL keeps no order of keys; what providers keep of a prompt holds as long as it begins the same."""
    _, _, requests = await _talked(way, monkeypatch)
    clicked, later = ([_action_in(request) for request in requests[number]] for number in (2, 3))
    assert [found for found in clicked if found] == [found for found in later if found] != []


def _action_in(message: JsonObject) -> list[str]:
    return [block["text"] for block in message["content"] if "<action>" in block.get("text", "")]


async def test_what_a_turn_has_is_what_the_database_has_of_it() -> None:
    """Whoever carries on reads it from there."""
    session, who = await sync_to_async(_of_ada)()
    kept: list[Claim] = []
    with _keeping(kept):
        await sync_to_async(intake.post_message)(session, who, "m1", "Hello")
    (claim,) = kept
    stored = await Turn.objects.aget(pk=claim.turn_pk)

    assert claim.turn is not None and claim.attempt == stored.attempt == 1
    fields = [field.attname for field in Turn._meta.concrete_fields if field.attname != "messages"]
    told = {name: getattr(claim.turn, name) for name in fields}
    assert told == {name: getattr(stored, name) for name in fields} | {"told_from": claim.turn.told_from}
    assert claim.deadline == stored.deadline is not None


# -- what is queued -----------------------------------------------------------------------------------------------


async def test_a_message_is_kept_whose_turn_cannot_begin_and_is_answered_once_it_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opening = leases.opening_messages

    def broken(*given: Any, **more: Any) -> list[JsonObject]:
        raise RuntimeError("a part that nobody can tell")

    async with desk(_echo) as d:
        monkeypatch.setattr(leases, "opening_messages", broken)
        await d.say("Hello", wait=False)
        await idle(d.runner)
        (turn,) = await d.turns()
        assert (turn.status, turn.attempt, turn.lease_owner, turn.lease_until, turn.deadline) == (
            "queued",
            0,
            "",
            None,
            None,
        )
        assert [row.data["text"] for row in await d.rows("message")] == ["Hello"]
        assert len(d.runner._kept) == 0

        monkeypatch.setattr(leases, "opening_messages", opening)
        d.runner.wake(d.session.pk)
        await d.quiet()
        assert await d.texts() == ["Hello!"]
        statuses = [(row.data["status"], row.data["attempt"]) for row in await d.rows("turn")]
        assert statuses == [("queued", 0), ("running", 1)]


async def test_a_second_message_waits_for_the_turn_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def look(context: object, args: Nothing) -> Json:
        begun.set()
        await release.wait()
        return "seen"

    done = [Say([text("response", "Done.")])]
    async with desk(replies([Call("look", {})], done), Tool("look", "", Nothing, look)) as d:
        ways = claiming.recorded(monkeypatch)
        await d.say("Look", wait=False)
        await asyncio.wait_for(begun.wait(), 10)
        assert not d.runner._has_room(d.session.pk)
        await sync_to_async(intake.post_message)(d.session, d.owner, "second", "And?")
        assert [(turn.status, turn.attempt) for turn in await d.turns()] == [("running", 1), ("queued", 0)]
        release.set()
        await d.quiet()
        assert [turn.status for turn in await d.turns()] == ["settled", "settled"]
        assert ways[0] == "opened" and "opened" not in ways[1:]


@pytest.mark.parametrize("before", ["running", "queued"])
async def test_a_turn_waits_for_one_that_is_somebody_elses_or_waits_itself(before: str) -> None:
    session, who = await sync_to_async(_of_ada)()
    await sync_to_async(factories.make_turn)(session, status=before)
    kept: list[Claim] = []
    with _keeping(kept) as given_back:
        await sync_to_async(intake.post_message)(session, who, "m1", "And?")

    newest = await Turn.objects.filter(session=session).order_by("-number").afirst()
    assert newest is not None and (newest.status, newest.attempt, newest.number) == ("queued", 0, 2)
    assert (kept, given_back) == ([], [session.pk])


async def test_a_turn_waits_while_staff_have_the_conversation() -> None:
    async with desk(_echo) as d:
        await Session.objects.filter(pk=d.session.pk).aupdate(taken_by="user:1")
        await d.say("Hello", wait=False)
        await idle(d.runner)
        (turn,) = await d.turns()
        assert (turn.status, turn.attempt, d.requests) == ("queued", 0, [])

        await Session.objects.filter(pk=d.session.pk).aupdate(taken_by="")
        d.runner.wake(d.session.pk)
        await d.quiet()
        assert await d.texts() == ["Hello!"]


async def test_no_more_turns_run_than_may_however_many_begin_at_once(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.BEACH_TURNS_AT_ONCE = 3
    at_work: list[int] = []
    now, full, release = 0, asyncio.Event(), asyncio.Event()

    async def look(context: object, args: Nothing) -> Json:
        nonlocal now
        now += 1
        at_work.append(now)
        if now == 3:
            full.set()
        await release.wait()
        now -= 1
        return "seen"

    def script(request: ModelRequest) -> Reply:
        if Conversation(request).replies:
            return Reply([Say([text("response", "Done.")], "complete")])
        return Reply([Call("look", {})])

    async with desk(script, Tool("look", "", Nothing, look)) as d:
        ways = claiming.recorded(monkeypatch)
        made = [await sync_to_async(create_session)(d.owner, "tester") for _ in range(12)]
        together, loop = threading.Barrier(len(made)), asyncio.get_running_loop()
        with ThreadPoolExecutor(len(made)) as doors:
            async with asyncio.timeout(60):
                await asyncio.gather(
                    *(loop.run_in_executor(doors, _post, together, session, d.owner) for session in made)
                )
        async with asyncio.timeout(60):
            await full.wait()
            # Whoever would be one too many has begun by then.
            await asyncio.sleep(0.2)
            release.set()
            while await Turn.objects.exclude(status="settled").aexists():
                await idle(d.runner)
                await asyncio.sleep(0.01)

        assert max(at_work) == 3 and len(at_work) == len(made)
        assert set(ways) == {"opened", "queued"} and len(ways) == len(made)
        assert (d.runner._free, len(d.runner._kept)) == (3, 0)


async def test_inside_of_somebody_elses_transaction_a_turn_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    def within(d: Desk, *, fails: bool) -> None:
        with pytest.raises(RuntimeError) if fails else nullcontext(), transaction.atomic():
            intake.post_message(d.session, d.owner, f"fails {fails}", "Hello")
            if fails:
                raise RuntimeError

    async with desk(_echo) as d:
        ways = claiming.recorded(monkeypatch)
        await sync_to_async(within)(d, fails=True)
        await idle(d.runner)
        assert (await d.turns(), d.runner._runs) == ([], {})
        await sync_to_async(within)(d, fails=False)
        await d.quiet(seconds=20)
        assert (await d.texts(), ways) == (["Hello!"], ["queued"])


# -- the place ----------------------------------------------------------------------------------------------------


async def test_what_opens_no_turn_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(_echo) as d:
        ways = claiming.recorded(monkeypatch)
        post = sync_to_async(intake.post_message)
        await post(d.session, d.owner, "same", "Hello")
        await d.quiet()
        assert (await post(d.session, d.owner, "same", "Hello"))["repeated"]
        with pytest.raises(SurfaceRefused):
            await d.act("nothing-of-this-name")
        with pytest.raises(BeachError):
            await post(d.session, Principal(owner_key="b" * 64, name="Bob"), "theirs", "Hello")
        await asyncio.sleep(0)
        assert (len(d.runner._kept), d.runner._runs) == (0, {})
        await d.say("Again")
        assert (await d.texts(), ways.count("queued")) == (["Hello!", "Again!"], 0)
        # No model was asked for a turn that was rolled back.
        assert len(d.requests) == 2


async def test_a_turn_is_handed_over_when_its_rows_are_committed_and_readers_have_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, who = await sync_to_async(_of_ada)()
    order: list[str] = []
    hand_over, ring = append.hand_over, doorbell.ring
    monkeypatch.setattr(append, "hand_over", lambda *given: order.append("rows") or hand_over(*given))
    monkeypatch.setattr(doorbell, "ring", lambda *given, **more: order.append("bell") or ring(*given, **more))

    def take(claim: Claim) -> None:
        assert not connection.in_atomic_block
        order.append("turn")

    with _offering(lambda _: Place("here:1:1", take, lambda: order.append("given back"))):
        await sync_to_async(intake.post_message)(session, who, "m1", "Hello")

    assert order == ["rows", "bell", "turn"]


async def test_a_turn_is_handed_over_though_a_reader_fails_that_was_told_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*given: Any, **more: Any) -> None:
        raise RuntimeError("nobody can be told")

    session, who = await sync_to_async(_of_ada)()
    kept: list[Claim] = []
    monkeypatch.setattr(doorbell, "ring", broken)
    with _keeping(kept) as given_back, pytest.raises(RuntimeError, match="nobody can be told"):
        await sync_to_async(intake.post_message)(session, who, "m1", "Hello")

    assert [claim.session_pk for claim in kept] == [session.pk] and given_back == []


async def test_what_a_process_left_before_the_turn_reached_its_runner_is_carried_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost: list[Claim] = []
    async with desk(_echo) as d:
        await d.runner.stop()
        with _keeping(lost, owner=DEAD):
            await d.say("Hello", wait=False)
        (turn,) = await d.turns()
        assert (turn.status, turn.attempt, turn.messages, turn.lease_owner) == ("running", 1, [], DEAD)
        assert await d.texts() == []

        other = Runner("other:1:1")
        await other.start()
        other.wake(d.session.pk)
        await idle_of(other, d)
        await other.stop()

        assert await d.texts() == ["Hello!"]
        (claim,), (request,) = lost, d.requests
        assert claim.turn is not None and request.messages == claim.turn.messages
        told = [(row.data["status"], row.data["reason"]) for row in await d.rows("turn")]
        assert told == [("queued", "new"), ("running", "started"), ("running", "recovered")]


async def test_what_the_context_of_the_door_says_does_not_reach_the_turn() -> None:
    word: contextvars.ContextVar[str] = contextvars.ContextVar("word", default="nobody's")
    heard: list[str] = []

    async def look(context: object, args: Nothing) -> Json:
        heard.append(word.get())
        return "seen"

    word.set("the runner's")
    done = [Say([text("response", "Done.")])]
    async with desk(replies([Call("look", {})], done), Tool("look", "", Nothing, look)) as d:
        word.set("the door's")
        await d.say("Look")
        assert heard == ["the runner's"]


async def idle_of(runner: Runner, d: Desk) -> None:
    async with asyncio.timeout(20):
        await idle(runner)
        while await Turn.objects.filter(session=d.session).exclude(status="settled").aexists():  # noqa: ASYNC110 - the other's
            await asyncio.sleep(0.01)


def _post(together: threading.Barrier, session: Session, who: Principal) -> None:
    try:
        together.wait(20)
        intake.post_message(session, who, "m1", "Look")
    finally:
        connection.close()


def _of_ada() -> tuple[Session, Principal]:
    ada = Principal(owner_key="a" * 64, name="Ada")
    return factories.make_session(ada), ada


@contextmanager
def _offering(keep: Any) -> Iterator[None]:
    end = places.offer(keep)
    try:
        yield
    finally:
        end()


@contextmanager
def _keeping(kept: list[Claim], *, owner: str = "here:1:1") -> Iterator[list[int]]:
    """Places of nobody who runs anything: what is ``kept`` in them, and the sessions for which one is given back."""
    given_back: list[int] = []

    def keep(session: int) -> Place:
        return Place(owner, kept.append, partial(given_back.append, session))

    with _offering(keep):
        yield given_back
