"""Turns, from a message to settlement: parts, corrections, failures, and what each leaves in the log."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pydantic import BaseModel

from envelopes.errors import ToolFailed
from envelopes.models import Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Fail, Prose, Raw, Reply, Say, Think, data, text
from envelopes.registries.actors import actors
from envelopes.registries.tools import Tool
from envelopes.turns import leases
from envelopes.types import Json
from tests.desk import Script, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class City(BaseModel):
    city: str


async def _weather(context: object, args: City) -> Json:
    return {"city": args.city, "degrees": 24}


WEATHER = Tool("weather", "The weather in a city.", City, _weather, data_kind="weather")


async def test_a_turn_goes_from_ack_through_a_tool_to_an_answer() -> None:
    script = replies(
        [Say([text("ack", "Looking.")], "awaiting"), Call("weather", {"city": "Corfu"})],
        [Say([text("response", "24 degrees."), data("domain-data", {"degrees": 24}, dataKind="weather")])],
    )
    async with desk(script, WEATHER) as d:
        await d.say("How warm is it in Corfu?")
        kinds = [(row.kind, row.part_type) for row in await d.rows() if row.audience == "delivered"]
        assert kinds == [
            ("message", ""),
            ("turn", ""),
            ("turn", ""),
            ("part", "ack"),
            # The result, as soon as it is there; then what the model says of it.
            ("part", "domain-data"),
            ("part", "response"),
            ("part", "domain-data"),
            ("settled", ""),
        ]
        rows = await d.rows()
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        (turn,) = await d.turns()
        assert (turn.status, turn.turn_state, turn.finalized_by) == ("settled", "complete", "complete")
        (call,) = await d.calls()
        assert (call.state, call.result) == ("succeeded", {"city": "Corfu", "degrees": 24})
        # The second request answers every call of the first, in one user message.
        answered = d.requests[1].messages[-1]
        assert answered["role"] == "user"
        assert [block["type"] for block in answered["content"]] == ["tool_result", "tool_result"]


async def test_free_text_is_kept_for_audit_corrected_and_never_delivered() -> None:
    script = replies([Prose("SECRET free text")], [Say([text("response", "Properly.")])])
    async with desk(script) as d:
        await d.say("Hello")
        assert await d.texts() == ["Properly."]
        (kept,) = await d.rows("free-text")
        assert kept.audience == "audit"
        assert kept.data["text"] == "SECRET free text"
        assert "SECRET" not in await d.html()
        assert "respond()" in str(d.requests[1].messages[-1])


async def test_a_model_that_only_writes_free_text_ends_in_an_error_part() -> None:
    async with desk(replies([Prose("still prose")])) as d:
        await d.say("Hello")
        (turn,) = await d.turns()
        assert (turn.status, turn.finalized_by) == ("settled", "error")
        (error,) = await d.parts("error")
        assert error["data"]["code"] == "model_misbehaved"
        assert len(d.requests) == 4


async def test_a_model_that_answers_nothing_ends_in_an_error_part() -> None:
    async with desk(replies(Reply([]))) as d:
        await d.say("Hello")
        (turn,) = await d.turns()
        assert turn.finalized_by == "error"


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (Say([text("no-such-part", "x")]), "/parts/0/metadata/partType"),
        (Say([text("response", "x")], "no-such-state"), "/turnState"),
        (Say([data("a2ui-surface", {"version": "v0.9", "createSurface": {"surfaceId": "s"}})]), "/parts/0"),
        (Raw('{"parts": [{"metadata": {"partType": "response"}, "text": "x"'), "/parts/0/text"),
        (Raw("[]"), ""),
    ],
)
async def test_a_refused_call_is_answered_with_a_typed_error_and_can_be_corrected(
    call: Say | Raw, path: str
) -> None:
    async with desk(replies([call], [Say([text("response", "Right.")])])) as d:
        await d.say("Hello")
        assert await d.texts() == ["Right."]
        (refused,) = await d.rows("refused")
        assert refused.audience == "audit"
        assert refused.data["error"]["code"] == "VALIDATION_FAILED"
        assert refused.data["error"].get("path", "") == path
        result = d.requests[1].messages[-1]["content"][0]
        assert result["is_error"] is True


async def test_refusals_are_bounded() -> None:
    async with desk(replies([Say([text("no-such-part", "x")])])) as d:
        await d.say("Hello")
        (turn,) = await d.turns()
        assert turn.finalized_by == "error"
        assert len(d.requests) == 4


async def test_an_actor_that_only_acknowledges_is_nudged_then_ends_in_an_error_part() -> None:
    async with desk(replies([Say([text("ack", "On it.")], "awaiting")])) as d:
        await d.say("Hello")
        (turn,) = await d.turns()
        assert turn.finalized_by == "error"
        (error,) = await d.parts("error")
        assert error["data"]["code"] == "no_answer"


async def test_settling_beside_a_tool_call_waits_for_its_result() -> None:
    script = replies(
        [Say([text("response", "Done?")], "complete"), Call("weather", {"city": "Corfu"})],
        [Say([text("response", "24 degrees.")])],
    )
    async with desk(script, WEATHER) as d:
        await d.say("Hello")
        assert await d.texts() == ["Done?", "24 degrees."]
        assert len(await d.rows("settled")) == 1


async def test_unknown_tools_and_bad_arguments_are_answered_and_nothing_runs() -> None:
    script = replies(
        [Call("no_such_tool", {}), Call("weather", {"town": 1})], [Say([text("response", "Sorry.")])]
    )
    async with desk(script, WEATHER) as d:
        await d.say("Hello")
        assert await d.calls() == []
        assert [row.data["call"] for row in await d.rows("refused")] == ["no_such_tool", "weather"]
        assert all(block["is_error"] for block in d.requests[1].messages[-1]["content"])


async def test_a_tool_that_raises_fails_and_the_model_is_told() -> None:
    async def broken(context: object, args: City) -> Json:
        raise ToolFailed("The station does not answer.")

    async def buggy(context: object, args: City) -> Json:
        raise KeyError("inside")

    script = replies(
        [Call("broken", {"city": "a"}), Call("buggy", {"city": "b"})], [Say([text("response", "Sorry.")])]
    )
    async with desk(script, Tool("broken", "", City, broken), Tool("buggy", "", City, buggy)) as d:
        await d.say("Hello")
        assert [call.state for call in await d.calls()] == ["failed", "failed"]
        told = d.requests[1].messages[-1]["content"]
        assert "does not answer" in told[0]["content"]
        assert "KeyError" not in told[1]["content"]


async def test_text_of_a_call_that_breaks_off_is_withdrawn_and_the_model_is_asked_again() -> None:
    script = replies(
        [
            Say([text("response", "This never ends because the line drops in the middle of it")]),
            Fail("silent"),
        ],
        [Say([text("response", "Whole.")])],
    )
    async with desk(script) as d:
        await d.say("Hello")
        assert await d.texts() == ["Whole."]
        (withdrawn,) = await d.rows("withdrawn")
        assert withdrawn.data["live"]


async def test_a_provider_that_keeps_failing_ends_in_an_error_part() -> None:
    async with desk(replies([Think("hm"), Fail("error", retryable=False, message="No credit left.")])) as d:
        await d.say("Hello")
        (error,) = await d.parts("error")
        assert "No credit left." in error["text"]


async def test_notes_and_audit_parts_stay_on_the_server() -> None:
    script = replies(
        [
            Say(
                [
                    text("response", "Two flights found."),
                    text("llm-context", "INTERNAL-ANALYSIS"),
                    data("reasoning-trace", {"text": "SECRET-THOUGHT"}),
                    data("setState", {"cart.status": "paid"}),
                ],
                note="PRIVATE-NOTE",
            )
        ]
    )
    async with desk(script) as d:
        await d.say("Hello")
        html = await d.html()
        assert "Two flights found." in html
        for secret in ("INTERNAL-ANALYSIS", "SECRET-THOUGHT", "cart.status", "PRIVATE-NOTE"):
            assert secret not in html


async def test_later_turns_read_earlier_ones_as_text() -> None:
    script = replies([Say([text("response", "First answer.")])], [Say([text("response", "Second.")])])
    async with desk(script) as d:
        await d.say("First question")
        await d.say("Second question")
        messages = d.requests[1].messages
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        assert "First answer." in str(messages[1])
        assert "tool_use" not in str(messages)


async def test_messages_while_a_turn_runs_are_queued_and_answered_in_order() -> None:
    script = replies(*([Say([text("response", f"Answer {n}.")])] for n in (1, 2, 3)))
    async with desk(script) as d:
        for n in (1, 2, 3):
            await d.say(f"Question {n}", wait=False)
        await d.quiet()
        assert await d.texts() == ["Answer 1.", "Answer 2.", "Answer 3."]
        assert [turn.status for turn in await d.turns()] == ["settled"] * 3


async def test_a_turn_that_is_passed_on_begins_again_with_the_other_actor_and_what_was_gathered() -> None:
    handed: list[ModelRequest] = []

    def drafter(request: ModelRequest) -> Reply:
        handed.append(request)
        return Reply([Say([text("response", "Drafted.")])])

    script = replies(
        [Call("weather", {"city": "Corfu"})],
        [Say([text("thinking", "Over to the drafter.")], "passed", pass_to="drafter")],
    )
    async with desk(drafter, name="drafter"), desk(script, WEATHER) as d:
        await d.say("Write about the weather")
        await d.quiet()
        assert [(turn.actor, turn.finalized_by) for turn in await d.turns()] == [
            ("tester", "passed"),
            ("drafter", "complete"),
        ]
        assert await d.texts() == ["Drafted."]
        told = str(handed[0].messages[-1])
        assert "Write about the weather" in told
        assert '"degrees":24' in told


async def test_actors_that_keep_passing_on_are_stopped_and_the_person_is_told() -> None:
    def to(name: str) -> Script:
        return lambda request: Reply([Say([text("thinking", "Not me.")], "passed", pass_to=name)])

    async with desk(to("tester"), name="other"), desk(to("other")) as d:
        await d.say("Hello")
        await d.quiet()
        assert len(await d.turns()) == 6
        (error,) = await d.parts("error")
        assert error["data"]["code"] == "passed_too_often"
        # On the page too: whatever comes after a turn has settled is not shown.
        assert "nobody answered" in await d.html()


async def test_a_turn_that_ends_its_process_each_time_is_given_up_and_the_person_is_told() -> None:
    async with desk(replies([Say([text("response", "Never said.")])])) as d:
        await d.runner.stop()
        await d.say("Hello", wait=False)
        for number in range(leases.MAX_RECOVERIES + 1):
            assert await sync_to_async(leases.claim_next)(d.session.pk, f"gone:{number}:1") is not None
            await sync_to_async(Turn.objects.update)(lease_until=timezone.now() - timedelta(seconds=1))
        assert await sync_to_async(leases.claim_next)(d.session.pk, "gone:9:1") is None
        (turn,) = await d.turns()
        assert (turn.status, turn.finalized_by) == ("settled", "error")
        (error,) = await d.parts("error")
        assert error["data"]["code"] == "keeps_failing"


async def test_a_reply_with_too_many_calls_keeps_the_first_and_the_model_is_told() -> None:
    flood = [Call("weather", {"city": f"c{n}"}) for n in range(70)]
    async with desk(replies(flood, [Say([text("response", "Enough.")])]), WEATHER) as d:
        await d.say("Everywhere")
        assert len(await d.calls()) == 64
        told = d.requests[1].messages[-1]["content"]
        assert sum(block["type"] == "tool_result" for block in told) == 64
        assert "At most 64 calls" in told[-1]["text"]
        assert await d.texts() == ["Enough."]


async def test_a_call_with_too_many_parts_is_refused_and_shows_nothing_of_the_rest() -> None:
    many = [text("response", f"part {n}") for n in range(70)]
    async with desk(replies([Say(many)], [Say([text("response", "Short.")])])) as d:
        await d.say("Hello")
        (withdrawn,) = await d.rows("withdrawn")
        assert len(withdrawn.data["live"]) == 64
        assert await d.texts() == ["Short."]


async def test_a_conversation_whose_agent_is_gone_says_so() -> None:
    async with desk(replies([Say([text("response", "Hello.")])])) as d:
        await d.say("Hi")
        actor = actors._items.pop("tester")
        try:
            await d.say("Are you there?")
        finally:
            actors._items["tester"] = actor
        (part,) = await d.parts("error")
        last = (await d.turns())[-1]

    assert part["data"]["code"] == "actor_gone"
    assert "not part of this site any more" in part["text"]
    assert (last.status, last.turn_state) == ("settled", "error")
