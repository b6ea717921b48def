"""Asking another actor within a turn (respond() document, "delegated"): it answers there, in its own time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.admin.timeline import log_of
from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.follower import Follower
from envelopes.errors import LeaseLost
from envelopes.log.append import writing
from envelopes.log.doorbell import doorbell
from envelopes.models import Approval, Injection, Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import (
    Call,
    Conversation,
    Fail,
    Reply,
    Say,
    ScriptedProvider,
    Think,
    data,
    text,
)
from envelopes.registries.tools import Tool, ToolContext
from envelopes.registries.turn_states import TurnState, turn_states
from envelopes.runtime import held_block
from envelopes.session_state import live_sessions
from envelopes.tasks import end
from envelopes.transports.panel.reader import READER
from envelopes.transports.panel.transport import PANEL
from envelopes.turns import delegating, reply, steps
from envelopes.turns.opening import open_turn
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, Script, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def terminal_one() -> Iterator[None]:
    with turn_states.including(TurnState("acme.referred", True, True, False, delegates=True)):
        yield


def _asks(actor: str = "drafter", *, task: str = "", state: str = "delegated") -> Say:
    return Say([text("ack", f"I ask the {actor}.")], state, delegate_to=actor, task=task or None)


def _answers(request: ModelRequest) -> JsonObject:
    """What the actor that was asked has answered."""
    (found,) = [entry for entry in Conversation(request).injections if entry.kind == delegating.INJECTION]
    assert isinstance(found.payload, dict)
    return found.payload


def _host(asks: Sequence[Any], then: str = "Here is the draft.") -> Script:
    """Asks, and answers when it has an answer."""

    def script(request: ModelRequest) -> Reply:
        heard = [entry for entry in Conversation(request).injections if entry.kind == delegating.INJECTION]
        return Reply([Say([text("response", then)])] if heard else list(asks))

    return script


async def _until(d: Desk, *statuses: str) -> None:
    for _ in range(2000):
        if [turn.status for turn in await d.turns()] == list(statuses):
            return
        await asyncio.sleep(0.01)
    raise AssertionError([turn.status for turn in await d.turns()])


async def test_the_actor_answers_in_the_turn_that_asked_and_that_goes_on() -> None:
    drafts = replies(
        [Say([text("response", "Dear Ada."), data("domain-data", {"words": 2}, dataKind="draft")])]
    )
    async with desk(drafts, name="drafter") as other, desk(_host([_asks(task="Draft a letter.")])) as d:
        await d.say("Write to Ada")
        await d.quiet()

        host, drafter = await d.turns()
        assert [(turn.actor, turn.finalized_by) for turn in (host, drafter)] == [
            ("tester", "complete"),
            ("drafter", "complete"),
        ]
        # All that is read stands in one turn, and each part says whose it is.
        parts = [(row.turn, row.actor, row.part_type) for row in await d.rows("part")]
        assert parts == [
            (1, "tester", "ack"),
            (1, "drafter", "response"),
            (1, "drafter", "domain-data"),
            (1, "tester", "response"),
        ]
        envelope = await sync_to_async(envelope_for)(host)
        assert [part.get("text") or part["data"] for part in envelope["parts"]] == [
            "Dear Ada.",
            {"words": 2},
            "Here is the draft.",
        ]
        # What it was asked, and what came of it.
        asked = next(e for e in Conversation(other.requests[0]).injections if e.kind == "delegation").payload
        assert asked == {"from": "tester", "task": "Draft a letter.", "mailbox": []}
        assert Conversation(other.requests[0]).text == "Write to Ada"
        answer = _answers(d.requests[-1])
        assert (answer["actor"], answer["turnState"], answer["finalizedBy"]) == (
            "drafter",
            "complete",
            "complete",
        )
        assert answer["said"].startswith("Dear Ada.\n[Data shown, draft:")
        states = [(row.turn, row.data["status"], row.data.get("turnState")) for row in await d.rows("turn")]
        assert (1, "waiting", "delegated") in states
        html = await d.html()
        assert html.index("Dear Ada.") < html.index("Here is the draft.")
        # What the other one's turn is, no page shows.
        assert 'id="t1-0"' in html and 'id="t2-' not in html


async def test_what_was_gathered_goes_along_and_tool_blocks_and_thinking_do_not() -> None:
    async def weather(context: ToolContext, args: _Place) -> Json:
        return {"degrees": 24}

    def host(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if any(entry.kind == delegating.INJECTION for entry in seen.injections):
            return Reply([Say([text("response", "Sent.")])])
        if seen.results("weather"):
            return Reply([Think("SECRET-THOUGHT"), _asks()])
        return Reply([Call("weather", {"name": "Corfu"})])

    drafts = replies([Think("OTHER-THOUGHT"), Say([text("response", "Warm.")])])
    async with desk(drafts, name="drafter") as other, desk(host, Tool("weather", "", _Place, weather)) as d:
        await d.say("Write about Corfu")
        await d.quiet()
        asked = str(other.requests[0].messages)
        assert '"tool":"weather","result":{"degrees":24}' in asked
        assert "tool_use" not in asked and "SECRET-THOUGHT" not in asked
        told = str(d.requests[-1].messages)
        assert "OTHER-THOUGHT" not in told
        await d.say("And now?")
        later = next(str(r.messages) for r in d.requests if Conversation(r).text == "And now?")
        assert "Warm." in later
        assert "THOUGHT" not in later and "tool_use" not in later


class _Place(BaseModel):
    name: str


@pytest.mark.parametrize(
    ("ends", "state", "by"), [("Dear Ada.", "acme.referred", "complete"), ("", "error", "error")]
)
async def test_a_terminal_state_is_settled_with_the_answer(ends: str, state: str, by: str) -> None:
    said = Say([text("response", ends)]) if ends else Say([text("error", "I cannot.")], "error")
    async with desk(replies([said]), name="drafter"), desk(replies([_asks(state="acme.referred")])) as d:
        await d.say("Write to Ada")
        await d.quiet()
        host = (await d.turns())[0]
        assert (host.status, host.turn_state, host.finalized_by) == ("settled", state, by)
        # Its actor is not asked again.
        assert len(d.requests) == 1
        if by == "error":
            assert [part["data"]["code"] for part in await d.parts("error") if "data" in part] == [
                "not_answered"
            ]


async def test_one_that_cannot_is_told_and_shown_once() -> None:
    cannot = replies([Fail("error", retryable=False, message="No credit left.")])
    async with desk(cannot, name="drafter"), desk(_host([_asks()], "Nobody could draft it.")) as d:
        await d.say("Write")
        await d.quiet()
        answer = _answers(d.requests[-1])
        assert (answer["finalizedBy"], answer["error"]["code"]) == ("error", "provider_failed")
        # The person reads what the one says whom they asked.
        assert await d.parts("error") == []
        assert await d.texts() == ["Nobody could draft it."]
        assert (await d.rows("settled"))[0].data["problem"]["code"] == "provider_failed"


async def test_its_budget_is_the_timeout_and_the_asker_spends_no_time() -> None:
    async with (
        desk(replies([Say([text("response", "Never")]), Fail("stall")]), name="drafter"),
        desk(_host([_asks()], "It took too long.")) as d,
    ):
        clock = _Clock()
        d.runner.now = clock
        await d.say("Write", wait=False)
        await _until(d, "waiting", "running")
        host, drafter = await d.turns()
        assert host.deadline is None and 0 < host.seconds_left <= 1800
        assert drafter.deadline is not None
        clock.late(drafter.deadline)
        await d.quiet()

        host, drafter = await d.turns()
        assert [(turn.finalized_by, turn.status) for turn in (host, drafter)] == [
            ("complete", "settled"),
            ("timeout", "settled"),
        ]
        assert _answers(d.requests[-1])["error"]["code"] == "turn_timeout"
        assert await d.texts() == ["It took too long."]


class _Clock:
    """Seconds since 1970, as far as runners know."""

    def __init__(self) -> None:
        self.at = 0.0

    def late(self, deadline: float) -> None:
        self.at = deadline + 1

    def __call__(self) -> float:
        return self.at


async def test_who_stops_the_one_that_was_asked_stops_the_one_that_asked() -> None:
    stalled = replies([Say([text("response", "Dear Ada, " * 40)]), Fail("stall")])
    async with desk(stalled, name="drafter"), desk(_host([_asks()])) as d:
        await d.say("Write", wait=False)
        await _until(d, "waiting", "running")
        await _is_written(d)
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()

        assert [(t.status, t.finalized_by) for t in await d.turns()] == [("settled", "cancelled")] * 2
        assert len(d.requests) == 1
        # What had been read of it stays.
        (cut,) = await d.parts("response")
        assert (cut["metadata"]["cut"], cut["text"][:8]) == ("stopped", "Dear Ada")
        assert len(await d.rows("settled")) == 2


async def _is_written(d: Desk) -> None:
    """Until some of the text of the turn that runs is stored for whoever connects meanwhile."""
    for _ in range(2000):
        if any(turn.live for turn in await d.turns()):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nothing is written")


async def test_its_text_streams_into_the_turn_that_asked() -> None:
    """Nobody who watches can tell it from the asker's own: nothing of it is dropped, nor of what comes after it."""
    drafts = replies([Say([text("response", "Dear Ada, " * 40)])])
    slow, host = partial(ScriptedProvider, pace=3_000), _host([_asks()], "And that is the draft. " * 30)
    async with desk(drafts, name="drafter", provider=slow), desk(host, provider=slow) as d:
        follower, seen = Follower(d.session, PANEL, READER), []

        async def read() -> None:
            async for item in follower.follow(0):
                seen.append(item)  # noqa: PERF401 - it has to be there at once

        task = asyncio.create_task(read())
        try:
            await d.say("Write")
            await d.quiet()
            for _ in range(500):
                if len({live for _, live, _ in _deltas(seen)}) == 2:
                    break
                await asyncio.sleep(0.01)
        finally:
            await end([task], seconds=5)
            follower.close()
        deltas = _deltas(seen)
        assert {turn for turn, _, _ in deltas} == {1}
        assert len({live for _, live, _ in deltas}) == 2


def _deltas(seen: list[Any]) -> list[tuple[int, str, str]]:
    found = []
    for item in seen:
        delta = getattr(item, "delta", None)
        if delta is not None and delta.part_type == "response":
            found.append((delta.turn, delta.live, delta.text))
    return found


async def test_an_approval_of_the_one_that_was_asked_stands_in_the_turn_that_asked() -> None:
    refund = factories.make_tool()
    script = replies(
        [Call("refund", {"order": "A17", "amount": 40.0, "note": ""})], [Say([text("response", "Paid.")])]
    )
    async with desk(script, refund, name="cashier"), desk(_host([_asks("cashier")], "It is paid.")) as d:
        await d.say("Pay it back")
        assert [turn.status for turn in await d.turns()] == ["waiting", "suspended"]
        assert [(row.turn, row.actor) for row in await d.rows("part", "approval-request")] == [(1, "cashier")]
        assert not await _is_busy(d)
        approval = await Approval.objects.select_related("session", "turn").aget(session=d.session)
        lines = await sync_to_async(log_of)(approval, d.owner)
        assert [line.row.part_type for line in lines][:1] == ["approval-request"]
        # Stopping is no answer to a question.
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        assert [turn.status for turn in await d.turns()] == ["waiting", "suspended"]
        await d.decide("granted")
        await d.quiet()
        assert [turn.finalized_by for turn in await d.turns()] == ["complete", "complete"]
        assert await d.texts() == ["Paid.", "It is paid."]
        assert "data-live" not in await d.html()


async def _is_busy(d: Desk) -> bool:
    """Whether the page says that an agent is at work, and has a button that stops it."""

    def read() -> bool:
        with live_sessions.present(d.session, "panel") as view:
            return view.busy

    return await sync_to_async(read)()


async def test_one_that_passes_on_what_it_was_asked_is_answered_by_whoever_took_it() -> None:
    passes = replies([Say([text("thinking", "Not mine.")], "passed", pass_to="editor")])
    async with (
        desk(replies([Say([text("response", "Edited.")])]), name="editor"),
        desk(passes, name="drafter"),
        desk(_host([_asks()])) as d,
    ):
        await d.say("Write")
        await d.quiet()
        assert [(turn.actor, turn.finalized_by) for turn in await d.turns()] == [
            ("tester", "complete"),
            ("drafter", "passed"),
            ("editor", "complete"),
        ]
        assert {row.turn for row in await d.rows("part")} == {1}
        assert _answers(d.requests[-1])["said"] == "Edited."
        assert await Injection.objects.acount() == 1


async def test_actors_that_keep_asking_each_other_are_stopped() -> None:
    def asks(name: str) -> Script:
        return _host([_asks(name)], "That is all.")

    async with desk(asks("tester"), name="other"), desk(asks("other")) as d:
        await d.say("Hello")
        await d.quiet()
        turns = await d.turns()
        assert len(turns) == 1 + delegating.MAX_DEPTH
        assert all(turn.status == "settled" for turn in turns)
        assert turns[-1].finalized_by == "error"
        assert turns[0].finalized_by == "complete"
        assert {row.turn for row in await d.rows("part")} == {1}


def _presses(d: Desk) -> None:
    """Somebody presses a button: a message would join the turn that is at work (D66)."""
    with writing(d.session.pk) as writer:
        open_turn(writer, {"kind": "action", "action": {"name": "go"}})


async def test_later_turns_read_one_turn_and_what_waits_in_line_waits_for_it() -> None:
    gate = asyncio.Event()

    async def look(context: ToolContext, args: _Place) -> Json:
        await gate.wait()
        return {}

    drafts = replies([Call("look", {"name": "x"})], [Say([text("response", "Dear Ada.")])])
    host = _host([_asks()])
    async with desk(drafts, Tool("look", "", _Place, look), name="drafter"), desk(host) as d:
        await d.say("Write", wait=False)
        await _until(d, "waiting", "running")
        await sync_to_async(_presses)(d)
        gate.set()
        await d.quiet()
        ends = [row.turn for row in await d.rows("settled")]
        assert ends[:2] == [2, 1]
        last = next(str(r.messages) for r in d.requests if Conversation(r).click is not None)
        assert last.count("Dear Ada.") == 1
        assert "without an answer" not in last and "still at work" not in last


async def test_whoever_is_asked_is_next_before_what_waited_in_line_already() -> None:
    gate = asyncio.Event()

    async def look(context: ToolContext, args: _Place) -> Json:
        await gate.wait()
        return {}

    def host(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if any(entry.kind == delegating.INJECTION for entry in seen.injections):
            return Reply([Say([text("response", "Sent.")])])
        if seen.click is not None:
            return Reply([Say([text("response", "Another.")])])
        return Reply([_asks()] if seen.results("look") else [Call("look", {"name": "x"})])

    drafts = replies([Say([text("response", "Dear Ada.")])])
    async with desk(drafts, name="drafter"), desk(host, Tool("look", "", _Place, look)) as d:
        await d.say("Write", wait=False)
        await _until(d, "running")
        await sync_to_async(_presses)(d)
        gate.set()
        await d.quiet()
        assert [turn.actor for turn in await d.turns()] == ["tester", "tester", "drafter"]
        assert [row.turn for row in await d.rows("settled")] == [3, 1, 2]


async def test_whoever_calls_tools_as_well_has_asked_nobody_yet() -> None:
    async def weather(context: ToolContext, args: _Place) -> Json:
        return {"degrees": 24}

    def host(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if seen.corrections:
            return Reply([Say([text("response", "I know.")])])
        return Reply([_asks(), Call("weather", {"name": "Corfu"})])

    async with (
        desk(replies([Say([text("response", "Never.")])]), name="drafter"),
        desk(host, Tool("weather", "", _Place, weather)) as d,
    ):
        await d.say("Write")
        await d.quiet()
        assert len(await d.turns()) == 1
        assert "Nobody was asked yet" in str(d.requests[1].messages[-1])


async def test_a_page_that_comes_while_it_is_at_work_gets_what_it_has_written() -> None:
    written = replies([Say([text("response", "Dear Ada, " * 40)]), Fail("stall")])
    async with desk(written, name="drafter"), desk(_host([_asks()])) as d:
        await d.say("Write", wait=False)
        await _until(d, "waiting", "running")
        await _is_written(d)
        follower = Follower(d.session, PANEL, READER)
        try:
            async with asyncio.timeout(10):
                async for item in follower.follow(0):
                    if _deltas([item]):
                        break
        finally:
            follower.close()
        (told,) = _deltas([item])
        assert told[0] == 1 and told[2].startswith("Dear Ada, Dear Ada,")
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()


@pytest.mark.parametrize("state", ["delegated", "acme.referred"])
async def test_what_comes_in_meanwhile_waits_with_the_asker_for_the_answer(state: str) -> None:
    """A job of the asker's has its result while the other one is still at work."""
    gate, done = asyncio.Event(), asyncio.Event()

    async def research(context: ToolContext, args: _Place) -> Json:
        await done.wait()
        return {"sights": 3}

    async def look(context: ToolContext, args: _Place) -> Json:
        await gate.wait()
        return {}

    def host(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if [outcome for outcome in seen.outcomes if outcome.late]:
            return Reply([Say([text("response", "All is there.")])])
        return Reply([_asks(state=state)] if seen.replies else [Call("research", {"name": "Corfu"})])

    drafts = replies([Call("look", {"name": "x"})], [Say([text("response", "Dear Ada.")])])
    async with (
        desk(drafts, Tool("look", "", _Place, look), name="drafter"),
        desk(host, Tool("research", "", _Place, research, background=True)) as d,
    ):
        await d.say("Write", wait=False)
        await _until(d, "waiting", "running")
        done.set()
        for _ in range(2000):
            if await Injection.objects.filter(kind="tool-result").aexists():
                break
            await asyncio.sleep(0.01)
        assert [turn.status for turn in await d.turns()] == ["waiting", "running"]
        gate.set()
        await d.quiet()
        assert {turn.status for turn in await d.turns()} == {"settled"}
        assert await d.texts() == ["Dear Ada.", "All is there."]
        # Both were heard, by whoever goes on.
        assert "sights" in str(d.requests[-1].messages)
        if state == "delegated":
            assert _answers(d.requests[-1])["said"] == "Dear Ada."


async def test_whom_its_actor_wanted_to_ask_is_asked_by_whoever_takes_the_turn_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reply is stored, and whoever ran it is gone before what follows from it is."""
    ends: list[Any] = []
    died, loop = asyncio.Event(), asyncio.get_running_loop()
    real = steps.end_reply

    def dies(claim: Any, turn: Any, ended: Any, block: Any = None, **more: Any) -> Any:
        if not ends:
            ends.append(block)
            reply.record(claim, turn, block)
            loop.call_soon_threadsafe(died.set)
            raise LeaseLost
        return real(claim, turn, ended, block, **more)

    monkeypatch.setattr(steps, "end_reply", dies)
    monkeypatch.setattr(held_block, "HOLD_SECONDS", 10.0)
    drafts = replies([Say([text("response", "Dear Ada.")])])
    async with desk(drafts, name="drafter") as other, desk(_host([_asks(task="Draft.")])) as d:
        await d.say("Write", wait=False)
        await asyncio.wait_for(died.wait(), 20)
        await Turn.objects.filter(session=d.session).aupdate(lease_until=None)
        doorbell.ring(d.session.pk, work=True)
        await _until(d, "settled", "settled")
        # Asked once each: the host for the task and for the end, the drafter for the draft.
        assert (len(d.requests), len(other.requests)) == (2, 1)
        assert await d.texts() == ["Dear Ada.", "Here is the draft."]


async def test_what_the_other_one_says_is_under_its_name() -> None:
    """On the page, while it is at work and afterwards, and in the envelope; each of them speaks for itself."""
    gate, called = asyncio.Event(), asyncio.Event()

    async def look(context: ToolContext, args: _Place) -> Json:
        called.set()
        await gate.wait()
        return {}

    said = text("response", "Dear Ada.", partId="p")
    drafts = replies(
        [Say([text("ack", "Drafting.")], "awaiting"), Call("look", {"name": "x"})], [Say([said])]
    )
    asks = [
        Say(
            [text("ack", "I ask."), text("response", "First: ", partId="p")],
            "delegated",
            delegate_to="drafter",
        )
    ]
    async with desk(drafts, Tool("look", "", _Place, look), name="drafter"), desk(_host(asks)) as d:
        await d.say("Write", wait=False)
        await called.wait()
        at_work = await d.html()
        _stand(at_work, ">Tester<", "First", ">Drafter<", "Drafting.")
        # One of them moves.
        assert at_work.count("b-typing") == 1
        gate.set()
        await d.quiet()
        await d.quiet()
        page = await d.html()
        _stand(
            page, ">Tester<", "First", ">Drafter<", "Drafting", "Dear Ada.", ">Tester<", "Here is the draft."
        )
        assert "b-typing" not in page
        live_sessions.forget(d.session.pk)
        assert await d.html() == page
        envelope = await sync_to_async(envelope_for)((await d.turns())[0])
        assert [(part["text"], part["metadata"].get("actor")) for part in envelope["parts"]] == [
            ("First: ", None),
            ("Dear Ada.", "drafter"),
            ("Here is the draft.", None),
        ]


async def test_a_surface_that_the_other_one_began_and_broke_off_at_is_at_rest() -> None:
    """Whoever asked says what came of it, and is not at fault."""
    row = {"id": "root", "component": "Column", "children": ["later"]}
    begun = {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "basic"}}
    half = {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": [row]}}
    surface = data("a2ui-surface", {"messages": [begun, half]})
    breaks = replies([Say([surface], "awaiting")], [Fail("error", retryable=False)])
    rest = "The rest of this card did not arrive."
    for drafter, told in ((breaks, 1), (replies([Say([surface])]), 0)):
        async with desk(drafter, name="drafter"), desk(_host([_asks()], "That was it.")) as d:
            await d.say("Draw")
            await d.quiet()
            assert await d.texts() == ["That was it."]
            assert (await d.html()).count(rest) == told


def _stand(html: str, *words: str) -> None:
    """These stand in the page in this order."""
    at = 0
    for each in words:
        at = html.index(each, at) + len(each)
