"""A person's message while a turn is at work joins that turn at its next tool result, or opens the next one (D66)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.access import Principal
from envelopes.delivery.envelope import envelope_for
from envelopes.models import Session, Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.registries.turn_states import TurnState, turn_states
from envelopes.runtime.runner import Runner
from envelopes.turns import delegating, leases, steps
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class _Place(BaseModel):
    name: str


@dataclass
class Held:
    """A tool that waits, and says when it was called."""

    called: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    def tool(self, **more: Any) -> Tool:
        async def look(context: ToolContext, args: _Place) -> Json:
            self.called.set()
            await self.go_on.wait()
            return {"sights": 3}

        return Tool("look", "Looks.", _Place, look, **more)


def _script(request: ModelRequest) -> Reply:
    """Looks, then answers all that was said."""
    seen = Conversation(request)
    if seen.results("look"):
        said = " and ".join([seen.text, *seen.joined])
        return Reply([Say([text("response", f"To {said}: three sights.")])])
    if seen.text.startswith("Look"):
        return Reply([Say([text("ack", "Looking.")], "awaiting"), Call("look", {"name": "Corfu"})])
    return Reply([Say([text("response", f"To {seen.text}: nothing.")])])


@asynccontextmanager
async def _looking(**more: Any) -> AsyncIterator[tuple[Desk, Held]]:
    held = Held()
    async with desk(_script, held.tool(), **more) as d:
        await d.say("Look", wait=False)
        await held.called.wait()
        yield d, held


async def _ends(d: Desk) -> list[tuple[int, str]]:
    return [(row.turn, row.data["finalizedBy"]) for row in await d.rows("settled")]


async def test_it_is_read_once_beside_the_next_tool_result_and_answered_there() -> None:
    async with _looking() as (d, held):
        await d.say("Hurry", wait=False)
        held.go_on.set()
        await d.quiet()

        assert await d.texts() == ["To Look and Hurry: three sights."]
        first, second = await d.turns()
        assert (first.finalized_by, second.finalized_by, second.status) == ("complete", "passed", "settled")
        assert second.joined_id == first.pk
        # Beside the result of the tool, as words of a person and marked by the runtime.
        (last,) = [r.messages[-1] for r in d.requests if Conversation(r).joined]
        assert [block["type"] for block in last["content"]] == ["tool_result"] * 2 + ["text"] * 2
        assert str(d.requests[-1].messages).count("Hurry") == 1
        # The log says which: the turn of the message ends in the one that answers it.
        (end,) = [row for row in await d.rows("settled") if "joined" in row.data]
        (message,) = [row for row in await d.rows("message") if row.data["text"] == "Hurry"]
        assert (end.turn, end.data["joined"], end.data["message"]) == (2, 1, message.seq)


async def test_the_next_turn_reads_of_it_where_it_was_answered() -> None:
    async with _looking() as (d, held):
        await d.say("Hurry", wait=False)
        held.go_on.set()
        await d.quiet()
        await d.say("Thanks")
        said = [(each.role, each.text) for each in Conversation(d.requests[-1]).earlier]
        assert said == [
            ("user", "Look"),
            ("user", "Hurry"),
            ("assistant", "To Look and Hurry: three sights."),
        ]
        # From what is kept of the session, too.
        await d.say("Bye")
        assert str(d.requests[-1].messages).count("Hurry") == 2  # as it was said, and in the answer


async def test_several_join_in_the_order_in_which_they_came() -> None:
    async with _looking() as (d, held):
        for words in ("a", "b", "c"):
            await d.say(words, wait=False)
        held.go_on.set()
        await d.quiet()
        assert await d.texts() == ["To Look and a and b and c: three sights."]
        assert await _ends(d) == [(2, "passed"), (3, "passed"), (4, "passed"), (1, "complete")]


async def test_after_the_last_reply_has_begun_it_opens_the_next_turn() -> None:
    writing, go_on = asyncio.Event(), asyncio.Event()

    def provider(script: Any) -> Any:
        from envelopes.providers.scripted import ScriptedProvider

        async def slowly(seconds: float) -> None:
            writing.set()
            await go_on.wait()

        return ScriptedProvider(script, pace=1, sleep=slowly)

    async with desk(_script, provider=provider) as d:
        await d.say("Hello", wait=False)
        await writing.wait()
        await d.say("And you?", wait=False)
        go_on.set()
        await d.quiet()
        assert await d.texts() == ["To Hello: nothing.", "To And you?: nothing."]
        assert await _ends(d) == [(1, "complete"), (2, "complete")]
        assert all("joined" not in row.data for row in await d.rows("settled"))


async def test_whoever_wrote_it_is_an_originator_and_gets_the_envelope_as_their_own() -> None:
    whole = Principal(owner_key="k" * 64, name="Ada", consumes=frozenset({"llm-context"}))
    async with _looking() as (d, held):
        await sync_to_async(intake.post_message)(d.session, whole, "m-peer", "Hurry")
        held.go_on.set()
        await d.quiet()
        (turn, _) = await d.turns()
        assert [who["consumes"] for who in turn.originators] == [[], ["llm-context"]]


async def test_a_click_that_waits_is_not_overtaken() -> None:
    def script(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if seen.click is not None:
            return Reply([Say([text("response", "Pressed.")])])
        if seen.text == "Card":
            rows = [
                {"id": "root", "component": "Button", "child": "t", "action": {"event": {"name": "go"}}},
                {"id": "t", "component": "Text", "text": "Go"},
            ]
            messages = [
                {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "basic"}},
                {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}},
            ]
            return Reply([Say([data("a2ui-surface", {"messages": messages})])])
        return _script(request)

    held = Held()
    async with desk(script, held.tool()) as d:
        await d.say("Card")
        target = next(
            piece.split('"')[1]
            for piece in (await d.html()).split("<button")
            if "data-act" in piece
            for piece in [piece[piece.index('id="') :]]
        )
        await d.say("Look", wait=False)
        await held.called.wait()
        await d.say("before", wait=False)
        await sync_to_async(intake.post_action)(d.session, d.owner, d.id(), target)
        await d.say("after", wait=False)
        held.go_on.set()
        await d.quiet()
        assert await d.texts() == ["To Look and before: three sights.", "Pressed.", "To after: nothing."]


async def test_a_turn_that_has_come_back_after_others_does_not_take_in_what_was_said_since() -> None:
    """It was asked about meanwhile, and its session went on (D17)."""
    held = Held()
    asks = Tool("book", "Books.", _Place, held.tool().run, approval=ApprovalPolicy(lambda args: "Book it?"))

    def script(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if seen.results("book"):
            return Reply([Say([text("response", "Booked.")])])
        if seen.results("look"):
            return Reply([Call("book", {"name": "Corfu"})])
        return _script(request)

    held.go_on.set()
    async with desk(script, held.tool(), asks) as d:
        await d.say("Look")
        assert [turn.status for turn in await d.turns()] == ["suspended"]
        await d.say("Hello")
        assert [turn.status for turn in await d.turns()] == ["suspended", "settled"]
        # Others have been at work since it began, of which it knows nothing.
        held.called.clear()
        held.go_on.clear()
        (approval,) = await d.approvals()
        deciding = asyncio.create_task(d.decide("granted"))
        await held.called.wait()
        await d.say("Wait", wait=False)
        held.go_on.set()
        await deciding
        await d.quiet()
        assert await d.texts() == ["To Hello: nothing.", "Booked.", "To Wait: nothing."]
        assert approval.state == "pending"


async def test_an_actor_that_was_asked_reads_it_in_the_turn_that_asked() -> None:
    def host(request: ModelRequest) -> Reply:
        if any(entry.kind == delegating.INJECTION for entry in Conversation(request).injections):
            return Reply([Say([text("response", "That was it.")])])
        return Reply([Say([text("ack", "I ask.")], "delegated", delegate_to="looker")])

    held = Held()
    async with desk(_script, held.tool(), name="looker"), desk(host) as d:
        await d.say("Look", wait=False)
        await held.called.wait()
        await d.say("Hurry", wait=False)
        held.go_on.set()
        await d.quiet()
        await d.quiet()
        assert await d.texts() == ["To Look and Hurry: three sights.", "That was it."]
        turns = {turn.number: turn for turn in await d.turns()}
        assert turns[3].joined_id == turns[1].pk
        (end,) = [row for row in await d.rows("settled") if "joined" in row.data]
        assert end.data["joined"] == 1
        said = await sync_to_async(envelope_for)(turns[1])
        assert [part["text"] for part in said["parts"]] == await d.texts()


async def test_one_that_an_asked_actor_did_not_read_is_read_beside_its_answer() -> None:
    writing, go_on = asyncio.Event(), asyncio.Event()

    def provider(script: Any) -> Any:
        from envelopes.providers.scripted import ScriptedProvider

        async def slowly(seconds: float) -> None:
            writing.set()
            await go_on.wait()

        return ScriptedProvider(script, pace=1, sleep=slowly)

    def host(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if any(entry.kind == delegating.INJECTION for entry in seen.injections):
            return Reply([Say([text("response", f"That was it, and {seen.joined}.")])])
        return Reply([Say([text("ack", "I ask.")], "delegated", delegate_to="looker")])

    answers = replies([Say([text("response", "Nothing.")])])
    async with desk(answers, name="looker", provider=provider), desk(host) as d:
        await d.say("Go", wait=False)
        await writing.wait()
        await d.say("Hurry", wait=False)
        go_on.set()
        await d.quiet()
        await d.quiet()
        assert await d.texts() == ["Nothing.", "That was it, and ['Hurry']."]


PARKED = TurnState("acme.parked", terminal=False, emits_envelope=False, holds_actor=False)


@pytest.fixture
def parked() -> Iterator[None]:
    with turn_states.including(PARKED):
        yield


async def test_a_turn_is_not_put_aside_while_a_message_waits_for_it(parked: None) -> None:
    def script(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if seen.joined:
            return Reply([Say([text("response", f"Then {seen.joined[0]}.")])])
        return Reply(
            [Call("look", {"name": "Corfu"})] if not seen.calls else [Say([text("ack", "?")], "acme.parked")]
        )

    held = Held()
    async with desk(script, held.tool()) as d:
        await d.say("Go", wait=False)
        await held.called.wait()
        # The tool has its result, and the reply that puts the turn aside is on its way.
        real = steps.put_aside

        def slowly(writer: Any, turn: Turn) -> bool:
            if not asked:
                asked.append(turn.number)
                from envelopes.turns.opening import open_turn

                open_turn(writer, {"kind": "message", "text": "Hurry"}, originators=turn.originators)
            return real(writer, turn)

        asked: list[int] = []
        steps.put_aside = slowly
        try:
            held.go_on.set()
            await d.quiet()
        finally:
            steps.put_aside = real
        assert await d.texts() == ["Then Hurry."]
        assert [turn.status for turn in await d.turns()] == ["settled", "settled"]


async def test_who_stops_it_stops_what_waits() -> None:
    async with _looking() as (d, held):
        await d.say("Hurry", wait=False)
        await sync_to_async(intake.stop)(d.session, d.owner, d.id())
        # Its tool is waited for: what that does is not taken back.
        held.go_on.set()
        await d.quiet()
        assert sorted(await _ends(d)) == [(1, "cancelled"), (2, "cancelled")]
        assert await d.texts() == []


async def test_whoever_takes_the_turn_over_reads_it_once() -> None:
    """The runner is gone while its tool runs; and after the message has joined, while the model is asked."""
    async with _looking() as (d, held):
        await d.say("Hurry", wait=False)
        await d.runner.stop()
        assert [turn.status for turn in await d.turns()] == ["running", "queued"]
        claim = await sync_to_async(leases.claim_next)(d.session.pk, "other")
        assert claim is not None
        held.go_on.set()
        turn = await Turn.objects.aget(pk=claim.turn_pk)
        await sync_to_async(_answers_the_tool)(claim)
        assert await sync_to_async(steps.answer_calls)(claim) == "model"
        await Turn.objects.filter(pk=turn.pk).aupdate(lease_until=None)
        runner = Runner()
        await runner.start()
        try:
            await _until_settled(d.session)
        finally:
            await runner.stop()
        assert await d.texts() == ["To Look and Hurry: three sights."]
        assert await _ends(d) == [(2, "passed"), (1, "complete")]


def _answers_the_tool(claim: leases.Claim) -> None:
    from envelopes.models import ToolCall
    from envelopes.turns import calls

    call = ToolCall.objects.select_related("turn").get(turn=claim.turn_pk)
    calls.finish_call(claim, call, "succeeded", {"sights": 3})


async def _until_settled(session: Session) -> None:
    for _ in range(1000):
        if not await Turn.objects.filter(session=session).exclude(status="settled").aexists():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no end")


@pytest.mark.parametrize("times", range(8))
async def test_at_the_end_of_a_turn_it_is_in_one_turn_whichever_is_first(times: int) -> None:
    """A tool result and the end of a reply race with the message, through the locks of the session."""
    async with _looking() as (d, held):
        said = asyncio.create_task(sync_to_async(intake.post_message)(d.session, d.owner, "race", "Hurry"))
        for _ in range(times):
            await asyncio.sleep(0)
        held.go_on.set()
        await said
        await d.quiet()
        read = [one for one in await d.texts() if "Hurry" in one]
        assert len(read) == 1, await d.texts()
        ends = await _ends(d)
        assert sorted(turn for turn, _ in ends) == [1, 2]
        joined = [row for row in await d.rows("settled") if "joined" in row.data]
        assert bool(joined) == ("and Hurry" in read[0])


async def test_on_the_page_the_turn_goes_on_below_the_message() -> None:
    async with _looking() as (d, held):
        await d.say("Hurry", wait=False)
        before = await d.html()
        # Not read yet: it waits in line below.
        assert before.index("Looking.") < before.index("Hurry") and "Added to" not in before
        held.go_on.set()
        await d.quiet()
        html = await d.html()
        places = ["Looking", "Hurry", "Added to the request above", 'id="t1-1"', "three sights"]
        assert [html.index(place) for place in places] == sorted(html.index(place) for place in places)
        assert 'id="t2-' not in html
        assert "b-typing" not in html


@pytest.mark.parametrize("way", ["passed", "error"])
async def test_who_takes_the_place_of_the_turn_reads_it_behind_what_began_that_with_its_parts(
    way: str, settings: Any
) -> None:
    """Else what the person took back would be the last word."""
    settings.BEACH_TURN_SECONDS = 9e9
    policy = {"retryPolicy": {"attempts": 1, "afterSeconds": 1}}
    ends = {
        "passed": Say([text("response", "Over.")], "passed", pass_to="second"),
        "error": Say([{**text("error", "Not now."), "data": policy}], "error"),
    }

    def script(request: ModelRequest) -> Reply:
        if Conversation(request).results("look"):
            return Reply([ends[way]])
        if "No, Rhodes" in str(request.messages):
            return Reply([Say([text("response", "Done.")])])
        return Reply([Call("look", {"name": "Corfu"})])

    held = Held()
    second = replies([Say([text("response", "Done.")])])
    async with desk(second, name="second") as other, desk(script, held.tool()) as d:
        await d.say("Book Corfu", wait=False)
        await held.called.wait()
        part = {"metadata": {"partType": "domain-data"}, "data": {"kind": "acme.seats", "value": 2}}
        await sync_to_async(intake.post_message)(d.session, d.owner, "m2", "No, Rhodes", parts=[part])
        held.go_on.set()
        await d.quiet()
        d.runner.now = lambda: 8e9
        for _ in range(500):
            if "Done." in await d.texts():
                break
            await asyncio.sleep(0.01)
        assert (await d.texts())[-1] == "Done."
        last = (other if way == "passed" else d).requests[-1]
        words = str(last.messages[-1]["content"])
        assert words.index("Book Corfu") < words.index("No, Rhodes") < words.index("acme.seats")
        assert (Conversation(last).text, Conversation(last).joined) == ("Book Corfu", ["No, Rhodes"])
