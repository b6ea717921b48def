"""Programs over SSE: everything after a row, in order, once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as Login
from django.test import AsyncClient

from envelopes import peers
from envelopes.access import Principal
from envelopes.delivery import event_stream
from envelopes.delivery.deltas import Delta, deltas
from envelopes.log.doorbell import doorbell
from envelopes.models import Peer
from envelopes.providers.scripted import Call, Say, ScriptedProvider, data, text
from envelopes.registries.tools import Tool
from envelopes.session_state import live_sessions
from tests.cards import agent_card
from tests.desk import Desk, desk, replies
from tests.envelopes.transports.http.test_http import PAY, Nothing, asks
from tests.envelopes.transports.program import Program, at_door
from tests.writers import BASIC

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = "Two flights were found, and one of them is direct. " * 12


def slowly(script: Any) -> ScriptedProvider:
    """So that there is something to see of a text before its part comes."""
    return ScriptedProvider(script, pace=3000)


@dataclass
class Event:
    name: str
    data: Any
    seq: int | None


@dataclass
class Stream:
    """What an EventSource makes of a response. ``cut`` it when done."""

    response: Any
    events: list[Event] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        rest = ""
        async for chunk in self.response:
            *blocks, rest = (rest + chunk.decode()).split("\n\n")
            for block in blocks:
                self._take(block)
            self._news.set()
        self.over = True
        self._news.set()

    def _take(self, block: str) -> None:
        if block.startswith(":"):
            self.comments.append(block)
            return
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        if "data" in fields:
            seq = int(fields["id"]) if "id" in fields else None
            self.events.append(Event(fields["event"], json.loads(fields["data"]), seq))

    async def until(self, holds: Callable[[Stream], object]) -> Stream:
        async with asyncio.timeout(20):
            while not holds(self):
                assert not self.over, [event.name for event in self.events]
                self._news.clear()
                await self._news.wait()
        return self

    async def seen(self, name: str, count: int = 1) -> Stream:
        return await self.until(lambda stream: len(stream.of(name)) >= count)

    async def cut(self) -> int:
        """The connection ends; the last row that came over it."""
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading
        return max((event.seq for event in self.events if event.seq is not None), default=0)

    def of(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == name]

    @property
    def rows(self) -> list[Event]:
        return [event for event in self.events if event.seq is not None]


async def listen(caller: Program, d: Desk, query: str = "", **headers: str) -> Stream:
    response = await caller.ask("get", f"/api/sessions/{d.session.public_id}/parts{query}", **headers)
    assert response.status_code == 200, response.content
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["X-Accel-Buffering"] == "no"
    return Stream(response)


async def test_it_tells_what_happens_as_it_happens() -> None:
    script = replies([Say([text("ack", "A moment."), text("response", WORDS)])])
    async with at_door(script) as (caller, d):
        stream = await (await listen(caller, d)).seen("upToDate")
        await d.say("Hi")
        await stream.seen("settled")
        await stream.cut()
        turn = (await d.turns())[0]

    names = [event.name for event in stream.events if event.name != "textDelta"]
    assert names == [
        "upToDate",
        "messageReceived",
        "turnStateChanged",
        "partReceived",
        "partReceived",
        "settled",
    ]
    message, begun, ack, answer, end = stream.rows
    assert message.data == {"text": "Hi", "name": "desk"}
    assert begun.data == {"turn": 1, "turnId": turn.public_id, "actor": "tester", "turnState": "awaiting"}
    assert [part.data["part"]["metadata"]["partType"] for part in (ack, answer)] == ["ack", "response"]
    assert answer.data["turnState"] == "complete"
    assert end.data["turnState"] == "complete"
    assert end.data["meta"].pop("producedAt").endswith("Z")
    assert end.data["meta"] == {
        "sessionId": d.session.public_id,
        "turnId": turn.public_id,
        "finalizedBy": "complete",
    }


async def test_a_message_that_joins_a_turn_says_which() -> None:
    async def say_more(context: object, args: Nothing) -> Any:
        await d.say("And two", wait=False)
        return {}

    script = replies([Call("more", {})], [Say([text("response", "Both.")])])
    async with at_door(script, Tool("more", "Waits.", Nothing, say_more)) as (caller, d):
        stream = await (await listen(caller, d)).seen("upToDate")
        await d.say("One")
        await stream.seen("settled", 2)
        await stream.cut()

    told = [
        (event.data["turn"], event.data.get("joined"), event.data["meta"]["finalizedBy"])
        for event in stream.of("settled")
    ]
    assert told == [(2, 1, "passed"), (1, None, "complete")]
    assert [event.data["turn"] for event in stream.of("partReceived")] == [1]


async def test_text_comes_while_it_is_written_and_offsets_make_it_whole() -> None:
    script = replies([Say([text("response", WORDS)])])
    async with desk_of_a_program(script) as (caller, d):
        stream = await (await listen(caller, d)).seen("upToDate")
        await d.say("Hi")
        await stream.seen("settled")
        await stream.cut()

    assert len(stream.of("textDelta")) > 1
    written = ""
    for delta in stream.of("textDelta"):
        assert (delta.seq, delta.data["partType"], delta.data["offset"]) == (None, "response", len(written))
        written += delta.data["text"]
    assert WORDS.startswith(written)
    (part,) = stream.of("partReceived")
    assert part.data["live"] == stream.of("textDelta")[0].data["live"]


@contextlib.asynccontextmanager
async def desk_of_a_program(script: Any, pace: float = 3000) -> AsyncIterator[tuple[Program, Desk]]:
    peer, token = await sync_to_async(peers.add)("desk", ["chat", "read"])
    async with desk(
        script,
        owner=peers.principal_of_peer(peer),
        provider=lambda following: ScriptedProvider(following, pace=pace),
    ) as d:
        yield Program(peer, token), d


async def test_cut_fifty_times_nothing_is_lost_or_doubled_and_texts_end_the_same() -> None:
    chance = random.Random(7)
    script = replies([Say([text("ack", "A moment."), text("response", WORDS)])])
    cuts, turns, last = 0, 0, 0
    rows: list[Event] = []
    texts: dict[str, str] = {}
    async with desk_of_a_program(script) as (caller, d):
        stayed = await (await listen(caller, d)).seen("upToDate")
        while cuts < 50:
            await d.say(f"Hello {turns}", wait=False)
            turns += 1
            while not (rows and rows[-1].name == "settled" and rows[-1].data["turn"] == turns):
                stream = await listen(caller, d, Last_Event_ID=str(last))
                wanted = chance.randint(1, 4)
                await stream.until(
                    lambda one, wanted=wanted, turns=turns: (
                        len(one.events) > wanted
                        or any(
                            event.name == "settled" and event.data["turn"] == turns for event in one.events
                        )
                    )
                )
                last = await stream.cut() or last
                cuts += 1
                rows += stream.rows
                for delta in stream.of("textDelta"):
                    live, offset = delta.data["live"], delta.data["offset"]
                    known = texts.get(live, "")
                    assert offset <= len(known), "text is missing before this"
                    texts[live] = known[:offset] + delta.data["text"]
                if chance.random() < 0.2:
                    live_sessions.clear()
        await stayed.seen("settled", turns)
        await stayed.cut()

    assert [row.seq for row in rows] == sorted({row.seq for row in rows})
    assert rows == stayed.rows
    whole = {
        row.data["live"]: row.data["part"]["text"]
        for row in rows
        if row.name == "partReceived" and "live" in row.data
    }
    assert whole
    for live, said in texts.items():
        assert whole[live].startswith(said)


async def test_a_text_gets_no_hole_and_is_asked_for_again() -> None:
    async with desk_of_a_program(replies([Say([text("response", WORDS)])]), pace=150) as (caller, d):
        stream = await (await listen(caller, d)).seen("upToDate")
        await d.say("Hello", wait=False)
        first = (await stream.seen("textDelta")).of("textDelta")[0].data
        ahead = Delta(first["live"], first["turn"], "response", 9_000, "What nobody can place.")
        deltas.publish(d.session.pk, ahead)
        await stream.seen("settled")
        await stream.cut()

    heard = stream.of("textDelta")
    assert not any("nobody can place" in delta.data["text"] for delta in heard)
    assert [delta.data["offset"] for delta in heard].count(0) == 2, "it was asked for again, once"
    assert len(stream.of("upToDate")) == 1


async def test_it_goes_on_after_a_row_by_header_or_address_and_the_header_is_newer() -> None:
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        await d.say("Hi")
        whole = await (await listen(caller, d, "?after=0")).seen("upToDate")
        await whole.cut()
        after = whole.rows[1].seq
        for query, headers in ((f"?after={after}", {}), ("?after=0", {"Last_Event_ID": str(after)})):
            rest = await (await listen(caller, d, query, **headers)).seen("upToDate")
            await rest.cut()
            assert rest.rows == whole.rows[2:]
        assert not doorbell._listeners.get(d.session.pk)
        assert not deltas._subscribers.get(d.session.pk)
        for query, headers in (("?after=-1", {}), ("?after=x", {}), ("", {"Last_Event_ID": "1e3"})):
            refused = await caller.ask("get", f"/api/sessions/{d.session.public_id}/parts{query}", **headers)
            assert (refused.status_code, refused.json()["code"]) == (400, "VALIDATION_FAILED")


async def test_who_is_ahead_of_the_log_is_told_so_and_the_stream_ends() -> None:
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        stream = await listen(caller, d, "?after=99")
        await stream.until(lambda one: one.over)

    assert [(event.name, event.data["code"]) for event in stream.events] == [("error", "not_in_log")]
    # A program has no page to load again.
    (told,) = (event.data["message"] for event in stream.events)
    assert "begin again at its start" in told and "page" not in told


async def test_a_silent_stream_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.02)
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        stream = await listen(caller, d)
        await stream.until(lambda one: len(one.comments) > 2)
        await d.say("Hi")
        await stream.seen("settled")
        await stream.cut()

    assert stream.of("partReceived")


async def test_a_question_is_told_and_the_turn_goes_on_when_it_is_answered() -> None:
    async with at_door(asks("Paid."), PAY) as (caller, d):
        stream = await listen(caller, d)
        await d.say("Pay")
        await stream.until(
            lambda one: any(e.data.get("turnState") == "suspended" for e in one.of("turnStateChanged"))
        )
        staff = await sync_to_async(User.objects.create_superuser)("ruth")
        await d.decide("granted", who=Principal(user=staff, name="Ruth"))
        await stream.seen("settled")
        await stream.cut()

    states = [event.data["turnState"] for event in stream.of("turnStateChanged")]
    assert states == ["awaiting", "suspended", "awaiting"]
    types = [event.data["part"]["metadata"]["partType"] for event in stream.of("partReceived")]
    assert types == ["thinking", "approval-request", "response"]


async def test_nobody_is_at_work_while_an_actor_that_was_asked_waits_for_a_person() -> None:
    asking = replies(
        [Say([text("ack", "I ask.")], "delegated", delegate_to="cashier")], [Say([text("response", "Paid.")])]
    )
    async with desk(asks("Done."), PAY, name="cashier"), at_door(asking) as (caller, d):
        await d.say("Pay")
        await d.quiet()
        assert [turn.status for turn in await d.turns()] == ["waiting", "suspended"]
        stream = await (await listen(caller, d)).seen("upToDate")
        await stream.cut()
        assert [event.data["busy"] for event in stream.of("upToDate")] == [False]
        # As it is where the session is made from what was kept of it.
        live_sessions.clear()
        again = await (await listen(caller, d)).seen("upToDate")
        await again.cut()
        assert [event.data["busy"] for event in again.of("upToDate")] == [False]


async def test_interfaces_go_to_who_draws_them_and_data_to_who_asks() -> None:
    messages = [
        {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC}},
        {
            "version": "v0.9",
            "updateComponents": {
                "surfaceId": "s",
                "components": [{"id": "root", "component": "Text", "text": "Hi"}],
            },
        },
    ]
    said = [
        data("a2ui-surface", {"messages": messages}),
        text("llm-context", "In short."),
        text("response", "Hello."),
    ]
    card = agent_card("llm-context")
    async with at_door(replies([Say(said)]), card=card) as (caller, d):
        await d.say("Hi")
        got = {}
        for query in ("", "?surfaces=true"):
            stream = await (await listen(caller, d, query)).seen("upToDate")
            await stream.cut()
            got[query] = [event.data["part"]["metadata"]["partType"] for event in stream.of("partReceived")]

    assert got == {
        "": ["llm-context", "response"],
        "?surfaces=true": ["a2ui-surface", "llm-context", "response"],
    }


async def test_a_token_that_is_blocked_ends_its_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(event_stream, "RECHECK_SECONDS", 0.0)
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        stream = await (await listen(caller, d)).seen("upToDate")
        await Peer.objects.aupdate(is_active=False)
        await stream.until(lambda one: one.over)

    assert stream.events[-1].data["code"] == "changed"


async def test_a_login_that_ends_ends_its_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(event_stream, "RECHECK_SECONDS", 0.0)
    user = await sync_to_async(User.objects.create_user)("ada")
    async with desk(
        replies([Say([text("response", "Hello.")])]), owner=Principal(user=user, name="Ada")
    ) as d:
        client = AsyncClient()
        await client.aforce_login(user)
        stream = Stream(await client.get(f"/api/sessions/{d.session.public_id}/parts"))
        await stream.seen("upToDate")
        await Login.objects.all().adelete()
        await stream.until(lambda one: one.over)

    assert stream.events[-1].data["code"] == "changed"


@pytest.mark.parametrize(("query", "headers"), [(f"?after={10**19}", {}), ("", {"Last_Event_ID": "9" * 19})])
async def test_a_number_that_no_database_has_is_no_row(query: str, headers: dict[str, str]) -> None:
    async with at_door(replies([Say([text("response", "Hello.")])])) as (caller, d):
        response = await caller.ask("get", f"/api/sessions/{d.session.public_id}/parts{query}", **headers)

    assert response.status_code == 400
