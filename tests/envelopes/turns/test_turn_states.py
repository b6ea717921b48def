"""Turns act as their states declare (respond() document, "Turn states"): each flag does what it says, for any state."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.delivery.envelope import envelope_for, partial_envelope_for
from envelopes.errors import RegistrationError
from envelopes.models import Session
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.registries.turn_states import TurnState, TurnStateRegistry, turn_states
from envelopes.types import Json
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

STATES = (
    TurnState("acme.working", terminal=False, emits_envelope=False, holds_actor=True),
    TurnState("acme.parked", terminal=False, emits_envelope=False, holds_actor=False),
    TurnState("acme.filed", terminal=True, emits_envelope=True, holds_actor=False),
    TurnState("acme.dropped", terminal=True, emits_envelope=False, holds_actor=False),
    TurnState("acme.interviewing", terminal=True, emits_envelope=True, holds_actor=True),
    TurnState("acme.sent", terminal=True, emits_envelope=False, holds_actor=False, passes=True),
)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with ExitStack() as stack:
        for state in STATES:
            stack.enter_context(turn_states.including(state))
        yield


async def test_one_that_is_not_terminal_and_holds_its_actor_goes_on_like_awaiting() -> None:
    script = replies(
        [Say([text("thinking", "Still at it.")], "acme.working")], [Say([text("response", "Done.")])]
    )
    async with desk(script) as d:
        await d.say("Go")
        (turn,) = await d.turns()
        assert (turn.turn_state, len(d.requests)) == ("complete", 2)
        assert [row.data["turnState"] for row in await d.rows("part")] == ["acme.working", "complete"]


@pytest.mark.parametrize(("state", "shown"), [("acme.filed", 2), ("acme.dropped", 1)])
async def test_one_that_is_terminal_settles_and_builds_an_envelope_if_it_says_so(
    state: str, shown: int
) -> None:
    said = Say([text("response", "Filed."), data("domain-data", {"file": 7})], state)
    async with desk(replies([said])) as d:
        await d.say("File it")
        (turn,) = await d.turns()
        assert (turn.status, turn.turn_state, turn.finalized_by) == ("settled", state, "complete")
        envelope = await sync_to_async(envelope_for)(turn)
        assert len(envelope["parts"]) == shown
        assert len(d.requests) == 1


async def test_one_that_is_terminal_and_holds_its_actor_keeps_the_conversation_for_it() -> None:
    """Until that actor settles in a state that does not hold it."""
    asks = [Say([text("response", "How old are you?")], "acme.interviewing")]
    ends = [Say([text("response", "Thank you.")])]
    host = replies(
        [Say([text("thinking", "To the interviewer.")], "passed", pass_to="interviewer")],
        [Say([text("response", "Back at the desk.")])],
    )
    async with desk(replies(asks, asks, ends), name="interviewer"), desk(host) as d:
        for words in ("Hello", "42", "Done", "Thanks"):
            await d.say(words)
        assert [turn.actor for turn in await d.turns()] == [
            "tester",
            "interviewer",
            "interviewer",
            "interviewer",
            "tester",
        ]
        assert (await Session.objects.aget(pk=d.session.pk)).held_by == ""


async def test_an_actor_that_is_gone_holds_nothing() -> None:
    host = replies(
        [Say([text("thinking", "Over.")], "passed", pass_to="interviewer")], [Say([text("response", "Me.")])]
    )
    async with desk(host) as d:
        async with desk(replies([Say([text("response", "Name?")], "acme.interviewing")]), name="interviewer"):
            await d.say("Hello")
            await d.quiet()
            assert (await Session.objects.aget(pk=d.session.pk)).held_by == "interviewer"
        await d.say("Ada")
        assert (await d.turns())[-1].actor == "tester"


class Place(BaseModel):
    name: str


async def test_one_that_is_neither_is_put_aside_and_goes_on_with_the_next_message() -> None:
    def script(request: ModelRequest) -> Reply:
        if Conversation(request).text == "Here it is":
            return Reply([Say([text("response", "Thank you.")])])
        return Reply([Say([text("response", "Send me the file.")], "acme.parked")])

    async with desk(script) as d:
        await d.say("I have a file")
        (turn,) = await d.turns()
        assert (turn.status, turn.turn_state, turn.lease_owner) == ("suspended", "acme.parked", "")
        waiting = await sync_to_async(partial_envelope_for)(turn)
        assert [part["text"] for part in waiting["parts"]] == ["Send me the file."]
        before = await d.html()
        assert "b-typing" not in before

        await d.say("Here it is")
        (turn,) = await d.turns()
        assert (turn.status, turn.turn_state, len(d.requests)) == ("settled", "complete", 2)
        message = (await d.rows("message"))[-1]
        assert message.turn == 1
        # Its answer stands below what it answers.
        html = await d.html()
        assert html.index("Send me the file.") < html.index("Here it is") < html.index("Thank you.")
        assert (await Session.objects.aget(pk=d.session.pk)).put_aside == 0


async def test_one_that_was_put_aside_lets_its_session_go_on_and_hears_of_its_jobs() -> None:
    release = asyncio.Event()

    async def research(context: ToolContext, args: Place) -> Json:
        await release.wait()
        return {"sights": 3}

    def script(request: ModelRequest) -> Reply:
        seen = Conversation(request)
        if any(outcome.late for outcome in seen.outcomes):
            return Reply([Say([text("response", "Three sights.")])])
        if seen.results("research"):
            return Reply([Say([text("response", "I will tell you.")], "acme.parked")])
        return Reply([Call("research", {"name": "Corfu"})])

    async with desk(script, Tool("research", "", Place, research, background=True)) as d:
        await d.say("Research Corfu", wait=False)
        for _ in range(1000):
            if [turn.status for turn in await d.turns()] == ["suspended"]:
                break
            await asyncio.sleep(0.01)
        release.set()
        for _ in range(1000):
            if [turn.status for turn in await d.turns()] == ["settled"]:
                break
            await asyncio.sleep(0.01)
        assert await d.texts() == ["I will tell you.", "Three sights."]


async def test_of_several_that_were_put_aside_the_newest_goes_on_first_and_none_is_forgotten() -> None:
    def script(request: ModelRequest) -> Reply:
        words = Conversation(request).text
        if words.startswith("park"):
            return Reply([Say([text("response", f"Parked {words}.")], "acme.parked")])
        return Reply([Say([text("response", f"Went on with {words}.")])])

    async with desk(script) as d:
        await d.say("park one")
        # The second one is begun while the first waits: queued before that one had come so far.
        await Session.objects.filter(pk=d.session.pk).aupdate(put_aside=0)
        await d.say("park two")
        for words in ("a", "b", "c"):
            await d.say(words)
        assert [(turn.number, turn.status) for turn in await d.turns()] == [
            (1, "settled"),
            (2, "settled"),
            (3, "settled"),
        ]
        ends = [row.turn for row in await d.rows("settled")]
        assert ends == [2, 1, 3]


async def test_a_state_of_an_application_passes_a_turn_on() -> None:
    script = replies([Say([text("thinking", "Yours.")], "acme.sent", pass_to="drafter")])
    async with desk(replies([Say([text("response", "Drafted.")])]), name="drafter"), desk(script) as d:
        await d.say("Write")
        await d.quiet()
        assert [(turn.turn_state, turn.finalized_by) for turn in await d.turns()] == [
            ("acme.sent", "passed"),
            ("complete", "complete"),
        ]


async def test_the_prompt_names_whom_one_can_pass_to() -> None:
    async with (
        desk(replies([Say([text("response", "Hi.")])]), name="drafter"),
        desk(replies([Say([text("response", "Hello.")])])) as d,
    ):
        await d.say("Hi")
        properties = d.requests[0].tools[0]["input_schema"]["properties"]
        assert "drafter" in properties["passTo"]["enum"]
        assert "tester" not in properties["passTo"]["enum"]
        assert "`drafter`: Drafter, tests" in d.requests[0].system


def test_a_state_that_passes_on_what_it_keeps_is_refused() -> None:
    with pytest.raises(RegistrationError, match="its actor keeps nothing"):
        TurnState("acme.both", True, False, True, passes=True)
    with pytest.raises(RegistrationError, match="its actor keeps nothing"):
        TurnState("acme.open", False, False, False, passes=True)


def test_a_state_may_be_given_as_json() -> None:
    given = {
        "id": "acme.asking",
        "isTerminal": True,
        "emitsEnvelope": True,
        "holdsActor": False,
        "delegates": True,
        "needs": "ack",
    }
    state = TurnStateRegistry("turn state").register(given)
    assert (state.terminal, state.delegates, state.needs, state.passes) == (True, True, "ack", False)
