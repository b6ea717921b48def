"""What an answer means, for the models of agents that ask for it: made once at the end of a turn, by a fast second
model, and whatever becomes of that, the turn ends as it would have (envelope document, "The canonical three")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.access import Principal, program
from envelopes.admin.sentences import sentence
from envelopes.costs import taken
from envelopes.delivery import envelope_for
from envelopes.errors import ProviderError
from envelopes.models import Turn
from envelopes.protocol.agent_cards import EXTENSION, consumed
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
    TextFragment,
    UsageTold,
)
from envelopes.providers.scripted import Call, Prose, Reply, Say, ScriptedProvider, data, text, translation
from envelopes.registries.tools import Tool, ToolContext
from envelopes.registries.turn_states import TurnState, turn_states
from envelopes.runtime import translating
from envelopes.turns.day_costs import day_costs
from envelopes.turns.spending import has_reached
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

CARD = {"capabilities": {"extensions": [{"uri": EXTENSION, "params": {"envelopeConsumes": ["llm-context"]}}]}}
ANSWER = Say(
    [text("response", "Two flights."), data("domain-data", {"prices": [94, 187]}, dataKind="flights")]
)


def _peer(card: Json = CARD) -> Principal:
    return program("peer", "7", name="Baxter", consumes=consumed(card))


class Nothing(BaseModel):
    """A tool without arguments."""


class Second:
    """A second model: what it was asked, and what it says."""

    def __init__(self, said: str = "The second costs twice as much.") -> None:
        self.asked: list[ModelRequest] = []
        self.said = said

    def __call__(self) -> ScriptedProvider:
        def script(request: ModelRequest) -> Reply:
            self.asked.append(request)
            return Reply([Prose(self.said)] if self.said else [])

        return ScriptedProvider(script, pace=0)


async def _contexts(d: Desk) -> list[str]:
    return await d.texts("llm-context")


async def _became(d: Desk) -> Any:
    (end,) = await d.rows("settled")
    return end.data.get("llmContext")


async def _told(d: Desk) -> str:
    return sentence((await d.rows("settled"))[-1])


async def test_a_peer_whose_card_consumes_it_gets_it_once_behind_the_answer() -> None:
    second = Second()
    async with desk(replies([ANSWER]), owner=_peer(), translator=second) as d:
        await d.say("Flights to Corfu")

        assert await _contexts(d) == ["The second costs twice as much."]
        (request,) = second.asked
        assert "Two flights." in str(request.messages) and "187" in str(request.messages)
        assert request.tools == []
        kinds = [row.part_type or row.kind for row in await d.rows() if row.audience == "delivered"]
        assert kinds[-2:] == ["llm-context", "settled"]
        assert await _became(d) == "made"
        assert "llm-context: made by the second model." in await _told(d)
        # However often its envelope is asked for.
        (turn,) = await d.turns()
        for _ in range(2):
            parts = (await sync_to_async(envelope_for)(turn))["parts"]
            assert [part["metadata"]["partType"] for part in parts] == [
                "response",
                "domain-data",
                "llm-context",
            ]
        assert len(second.asked) == 1


@pytest.mark.parametrize(
    "owner",
    [
        None,
        _peer(None),
        _peer({"capabilities": {"extensions": [{"uri": "https://other.example/", "params": {
            "envelopeConsumes": ["llm-context"]}}]}}),
    ],
    ids=["a person", "a peer without a card", "a peer whose card speaks of something else"],
)  # fmt: skip
async def test_for_nobody_else_is_the_second_model_asked(owner: Principal | None) -> None:
    second = Second()
    async with desk(replies([ANSWER]), owner=owner, translator=second) as d:
        await d.say("Flights to Corfu")

        assert second.asked == [] and await _contexts(d) == []
        assert await _became(d) is None
        assert await _told(d) == "Answer ended: complete. llm-context: none, nobody who began it reads it."


async def test_an_actor_that_says_it_itself_is_not_translated() -> None:
    second = Second()
    own = Say([text("llm-context", "Cheap ones leave early."), text("response", "Two flights.")])
    async with desk(replies([own]), owner=_peer(), translator=second) as d:
        await d.say("Flights to Corfu")

        assert second.asked == [] and await _contexts(d) == ["Cheap ones leave early."]
        assert await _became(d) == "actor"


async def test_of_a_turn_that_ends_with_the_answer_of_another_actor_that_is_told() -> None:
    second = Second()
    asks = Say([text("ack", "I ask.")], "acme.referred", delegate_to="drafter")
    drafted = replies([Say([text("response", "Drafted.")])])
    with turn_states.including(TurnState("acme.referred", True, True, False, delegates=True)):
        async with (
            desk(drafted, name="drafter", translator=second),
            desk(replies([asks]), owner=_peer(), translator=second) as d,
        ):
            await d.say("Write")
            await d.quiet()

            assert second.asked == []
            assert [sentence(row) for row in await d.rows("settled")] == [
                "Answer ended: complete.",
                "Answer ended: acme.referred (complete). llm-context: left to the actor that was asked.",
            ]


async def test_it_is_made_of_all_that_was_gathered_across_a_handover() -> None:
    async def weather(context: ToolContext, args: Nothing) -> Json:
        return {"degrees": 24}

    second = Second()
    tool = Tool("weather", "", Nothing, weather, data_kind="weather")
    passed = Say([text("response", "Over to the drafter.")], "passed", pass_to="drafter")
    drafted = replies([Say([text("response", "Drafted.")])])
    async with (
        desk(drafted, name="drafter", translator=second),
        desk(replies([Call("weather")], [passed]), tool, owner=_peer()) as d,
    ):
        await d.say("Write about Corfu")
        await d.quiet()

        (request,) = second.asked
        assert "Drafted." in str(request.messages) and "degrees" in str(request.messages)
        assert "Over to" not in str(request.messages)
        assert [row.data.get("llmContext") for row in await d.rows("settled")] == [None, "made"]


async def test_a_turn_without_an_envelope_needs_none() -> None:
    second = Second()
    async with desk(
        replies([Say([text("clarify", "From where?")], "clarifying")]), owner=_peer(), translator=second
    ) as d:
        await d.say("Flights to Corfu")

        assert second.asked == [] and await _contexts(d) == []
        assert await _told(d) == "Answer ended: clarifying."


class Broken:
    """A provider that raises, or never answers."""

    name = label = model = "broken"

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self.error is not None:
            raise self.error
        await asyncio.Event().wait()
        yield ReplyEnded("end_turn")


def _gone() -> Any:
    raise RuntimeError("No such model")


@pytest.mark.parametrize(
    ("translator", "became", "told"),
    [
        (lambda: Broken(None), "timeout", "the second model took too long"),
        (lambda: Broken(ProviderError("Overloaded.", retryable=True)), "failed", "the second model failed"),
        (lambda: Broken(ValueError("bug")), "failed", "the second model failed"),
        (Second(""), "empty", "the second model said nothing"),
        (_gone, "no-model", "the actor has no second model"),
        (None, "no-model", "the actor has no second model"),
    ],
)
async def test_a_second_model_that_fails_costs_the_turn_nothing_and_it_is_said(
    translator: Any, became: str, told: str, settings: Any
) -> None:
    settings.BEACH_CONTEXT_SECONDS = 0.05
    async with desk(replies([ANSWER]), owner=_peer(), translator=translator) as d:
        await d.say("Flights to Corfu")

        assert await _contexts(d) == [] and await d.texts() == ["Two flights."]
        (end,) = await d.rows("settled")
        assert (end.data["turnState"], end.data["llmContext"]) == ("complete", became)
        assert await _told(d) == f"Answer ended: complete. llm-context: none, {told}."


async def test_whoever_stops_a_turn_that_only_waits_for_the_second_model_has_its_answer() -> None:
    asked = asyncio.Event()

    class Waiting(Broken):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            asked.set()
            await asyncio.Event().wait()
            yield ReplyEnded("end_turn")

    async with desk(replies([ANSWER]), owner=_peer(), translator=lambda: Waiting(None)) as d:
        await d.say("Flights to Corfu", wait=False)
        await asked.wait()
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()

        (turn,) = await d.turns()
        assert (turn.turn_state, turn.finalized_by) == ("complete", "complete")
        assert await _became(d) == "stopped"


async def test_a_process_that_ends_meanwhile_leaves_an_answer_that_the_next_one_settles() -> None:
    """Nobody is asked twice: not the model, whose answer stands, nor the second one."""
    asked = asyncio.Event()

    class Waiting(Broken):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            asked.set()
            await asyncio.Event().wait()
            yield ReplyEnded("end_turn")

    async with desk(replies([ANSWER]), owner=_peer(), translator=lambda: Waiting(None)) as d:
        await d.say("Flights to Corfu", wait=False)
        await asked.wait()
        await d.runner.stop()
        await d.runner.start()
        await d.quiet()

        assert len(d.requests) == 1 and await d.texts() == ["Two flights."]
        assert await _became(d) == "interrupted"


async def test_what_the_second_model_reads_and_writes_is_bounded_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(translating, "DATA_CHARACTERS", 10)
    monkeypatch.setattr(translating, "CONTEXT_CHARACTERS", 10)
    second = Second("Much too long for this.")
    async with desk(replies([ANSWER]), owner=_peer(), translator=second) as d:
        await d.say("Flights to Corfu")

        assert await _contexts(d) == ["Much too l [cut after 10 characters]"]
        assert "[cut after 10 characters]" in str(second.asked[0].messages)


class Paid(Broken):
    """A second model that is paid for. ``how`` it ends: "" as it should, or not."""

    model = "claude-second-1"

    def __init__(self, how: str = "", *, counts: bool = True) -> None:
        self.how, self.counts, self.asked = how, counts, asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asked.set()
        if self.counts:
            yield UsageTold({"input_tokens": 700, "cache_read_input_tokens": 300, "output_tokens": 1})
        yield BlockStarted(0, "text")
        yield TextFragment(0, "Half of it.")
        if self.how == "failed":
            raise ProviderError("Overloaded.", retryable=True)
        if self.how:
            await asyncio.Event().wait()
        yield BlockEnded(0, "text", content={"type": "text", "text": "Half of it. All of it."})
        told = {"input_tokens": 700, "cache_read_input_tokens": 300, "output_tokens": 50}
        yield ReplyEnded("end_turn", told if self.counts else {})


@pytest.mark.parametrize("how", ["", "uncounted", "failed", "timeout", "stopped"])
async def test_what_the_second_model_takes_is_counted_however_it_ends(how: str, settings: Any) -> None:
    settings.BEACH_PRICES = {"claude-second": {"input": 3, "output": 15, "cache_read": 0.3}}
    settings.BEACH_CONTEXT_SECONDS = 0.2 if how == "timeout" else 20
    second = Paid("" if how == "uncounted" else how, counts=how != "uncounted")
    async with desk(replies([ANSWER]), owner=_peer(), translator=lambda: second) as d:
        await d.say("Flights to Corfu", wait=False)
        if how == "stopped":
            await second.asked.wait()
            await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        await d.quiet()
        reply, row = await d.rows("provider")
        (turn,) = await d.turns()
        assert await _became(d) == {"": "made", "uncounted": "made"}.get(how, how)

    usage = row.data["usage"]
    assert "purpose" not in reply.data and (row.data["purpose"], row.data["model"]) == (
        "llm-context",
        "claude-second-1",
    )
    assert row.data.get("estimated", False) is (how != "")
    assert how == "uncounted" or (usage["input_tokens"], usage["cache_read_input_tokens"]) == (700, 300)
    assert usage["output_tokens"] == 50 if how == "" else 0 < usage["output_tokens"] < 30
    assert (turn.tokens, turn.cost) == (taken(usage).total, pytest.approx(row.data["cost"], abs=1e-6))
    assert turn.cost > 0 and turn.model == "scripted"
    told = sentence(row)
    assert told.startswith("The second model was asked for llm-context. ") and told.endswith(" USD)")
    assert ("Estimated" in told) is (how != "")


@pytest.mark.parametrize(
    "limit", ["BEACH_TURN_TOKENS", "BEACH_TURN_COST", "BEACH_PERSON_DAY_COST", "BEACH_DAY_COST"]
)
async def test_it_counts_towards_the_limits_and_is_not_asked_beyond_them(limit: str, settings: Any) -> None:
    day_costs.forget()
    settings.BEACH_PRICES = {"claude-second": {"input": 1000}}
    second = Paid()
    person = Principal(owner_key="p" * 64, name="Ada", consumes=frozenset({"llm-context"}))
    async with desk(replies([ANSWER]), owner=person, translator=lambda: second) as d:
        await d.say("Flights to Corfu")
        (turn,) = await d.turns()
        setattr(settings, limit, 500 if limit == "BEACH_TURN_TOKENS" else 0.5)
        assert turn.cost == pytest.approx(1.0), "0.7 and 0.3, which has no price of its own"
        reached = await sync_to_async(has_reached)(turn, {})
        begun = await sync_to_async(has_reached)(Turn(originators=[], session=d.session), {})
    day_costs.forget()

    assert reached and begun is (limit == "BEACH_DAY_COST")


async def test_whoever_has_reached_a_limit_gets_the_answer_without_it(settings: Any) -> None:
    settings.BEACH_TURN_TOKENS = 10
    settings.BEACH_PRICES = {}
    second = Paid()

    class Counting(ScriptedProvider):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            async for event in super().stream(request):
                yield replace(event, usage={"input_tokens": 10}) if isinstance(event, ReplyEnded) else event

    async with desk(
        replies([ANSWER]),
        owner=_peer(),
        translator=lambda: second,
        provider=lambda script: Counting(script, pace=0),
    ) as d:
        await d.say("Flights to Corfu")
        assert await d.texts() == ["Two flights."] and await _became(d) == "limit"
        assert not second.asked.is_set()
        assert (await _told(d)).endswith("llm-context: none, a limit on tokens or cost was reached.")


async def test_the_scripted_provider_has_a_second_model_of_its_own() -> None:
    async with desk(
        replies([ANSWER]), owner=_peer(), translator=lambda: ScriptedProvider(translation, pace=0)
    ) as d:
        await d.say("Flights to Corfu")

        assert await _contexts(d) == ["The answer was: Two flights.\nIt rests on flights (prices)."]
