"""The respond() call as a whole: states, hand-over, what goes with what; and the tool that a model sees."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from envelopes.errors import RespondRefused
from envelopes.protocol.respond import MAX_PARTS, RespondCall, check_respond
from envelopes.protocol.respond_tool import respond_tool
from envelopes.protocol.snippet import system_snippet
from envelopes.registries.turn_states import TurnState, turn_states

ACK = {"metadata": {"partType": "ack"}, "text": "On it."}
RESPONSE = {"metadata": {"partType": "response"}, "text": "Done."}
CLARIFY = {"metadata": {"partType": "clarify"}, "text": "Which one?"}
ERROR = {"metadata": {"partType": "error"}, "text": "It failed."}


def call(*parts: Any, state: Any = "complete", **more: Any) -> dict[str, Any]:
    return {"parts": list(parts), "turnState": state, **more}


def refusal(value: Any, **options: Any) -> RespondRefused:
    with pytest.raises(RespondRefused) as caught:
        check_respond(value, **options)
    assert caught.value.code == "VALIDATION_FAILED"
    assert caught.value.message.endswith(".")
    json.dumps(caught.value.as_dict()).encode()
    return caught.value


# The shapes that the respond() document shows.
DOCUMENTED = [
    call(RESPONSE),
    call(ACK, state="awaiting"),
    call(CLARIFY, state="clarifying"),
    call(ERROR, state="error"),
    call(
        RESPONSE,
        {"data": {"flights": []}, "metadata": {"partType": "domain-data"}},
        {"text": "BA is more comfortable.", "metadata": {"partType": "llm-context"}},
        {"data": {"version": "v0.9", "createSurface": {}}, "metadata": {"partType": "a2ui-surface"}},
    ),
]


@pytest.mark.parametrize("value", DOCUMENTED)
def test_documented_shapes_pass(value: dict[str, Any]) -> None:
    checked = check_respond(value)

    assert [part.as_json() for part in checked.parts] == value["parts"]
    assert checked.state == value["turnState"]
    assert checked.pass_to is checked.note is None


@pytest.mark.parametrize("value", DOCUMENTED)
def test_documented_shapes_fit_the_tools_schema(value: dict[str, Any]) -> None:
    schema = respond_tool()["input_schema"]
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(value, schema)


def test_the_older_names_are_accepted() -> None:
    checked = check_respond(
        {"parts": [{"partType": "response", "text": "Hi"}], "conversationState": "complete"}
    )

    assert checked.state == "complete"
    assert checked.parts[0].part_type == "response"
    assert refusal(call(RESPONSE, conversationState="complete")).facts["path"] == "/conversationState"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, ""),
        ([], ""),
        ("respond", ""),
        ({}, "/parts"),
        ({"turnState": "complete"}, "/parts"),
        ({"parts": [RESPONSE]}, "/turnState"),
        (call(), "/parts"),
        (call(*[ACK] * (MAX_PARTS + 1)), "/parts"),
        ({"parts": {"0": RESPONSE}, "turnState": "complete"}, "/parts"),
        (call(RESPONSE, state=None), "/turnState"),
        (call(RESPONSE, state="finished"), "/turnState"),
        (call(RESPONSE, state="suspended"), "/turnState"),
        (call(RESPONSE, state="delegated"), "/delegateTo"),
        (call(RESPONSE, delegateTo="drafter"), "/delegateTo"),
        (call(RESPONSE, state="delegated", delegateTo="nobody"), "/delegateTo"),
        (call(RESPONSE, state="delegated", passTo="drafter"), "/passTo"),
        (call(RESPONSE, state="delegated", delegateTo="drafter", passTo="drafter"), "/passTo"),
        (call(RESPONSE, task="Draft."), "/task"),
        (call(RESPONSE, state="delegated", delegateTo="drafter", task="x" * 4_001), "/task"),
        (call(RESPONSE, state="\ud800"), "/turnState"),
        (call(RESPONSE, extra=1), "/extra"),
        (call(RESPONSE, **{"\ud800": 1}), "/\ufffd"),
        (call(RESPONSE, note=7), "/note"),
        (call(ACK, {"text": "no type"}), "/parts/1/metadata"),
        (call(ACK, {"metadata": {"partType": "no-such-part"}, "text": "x"}), "/parts/1/metadata/partType"),
        (call({"metadata": {"partType": "approval-request"}, "data": {}}), "/parts/0/metadata/partType"),
        (call({"metadata": {"partType": "approval-response"}, "data": {}}), "/parts/0/metadata/partType"),
        (call(CLARIFY, RESPONSE, state="clarifying"), "/parts"),
        (call(RESPONSE, state="clarifying"), "/parts"),
        (call(RESPONSE, state="error"), "/parts"),
        (call(RESPONSE, state="passed"), "/passTo"),
        (call(RESPONSE, passTo="drafter"), "/passTo"),
        (call(RESPONSE, state="passed", passTo=""), "/passTo"),
        (call(RESPONSE, state="passed", passTo="nobody"), "/passTo"),
    ],
)
def test_refusals_point_at_the_place(value: Any, path: str) -> None:
    assert refusal(value, actors=("drafter",)).facts["path"] == path


def test_a_refused_state_names_those_that_may_be_declared() -> None:
    allowed = ["awaiting", "complete", "clarifying", "error", "delegated", "passed"]

    assert refusal(call(RESPONSE, state="finished")).facts["allowed"] == allowed
    assert "set by the runtime" in refusal(call(RESPONSE, state="suspended")).message


def test_passing_on() -> None:
    checked = check_respond(call(ACK, state="passed", passTo="drafter"), actors=("drafter", "editor"))

    assert checked.pass_to == "drafter"
    assert refusal(call(ACK, state="passed", passTo="x"), actors=("drafter", "editor")).facts["allowed"] == [
        "drafter",
        "editor",
    ]


def test_asking_another_actor() -> None:
    asked = call(ACK, state="delegated", delegateTo="drafter", task="Draft it.")
    checked = check_respond(asked, actors=("drafter",))

    assert (checked.delegate_to, checked.task, checked.pass_to) == ("drafter", "Draft it.", None)
    assert check_respond(call(ACK, state="delegated", delegateTo="drafter"), actors=("drafter",)).task is None


def test_a_state_says_which_part_it_needs() -> None:
    with turn_states.including(TurnState("acme.quoted", True, True, False, needs="citation")):
        assert "needs a part of type 'citation'" in refusal(call(ACK, state="acme.quoted")).message
        quoted = {"metadata": {"partType": "citation"}, "data": {"path": "/a", "title": "A"}}
        assert check_respond(call(ACK, quoted, state="acme.quoted")).state == "acme.quoted"


def test_the_tool_and_the_prompt_name_the_actors_that_can_be_asked() -> None:
    others = {"drafter": "Dana, writes"}
    properties = respond_tool(others)["input_schema"]["properties"]
    assert properties["passTo"]["enum"] == properties["delegateTo"]["enum"] == ["drafter"]
    assert "  - `drafter`: Dana, writes\n" in system_snippet(others=others)
    assert "passed" in system_snippet(others=others)
    assert "drafter" not in system_snippet(others={}) and "passed" not in system_snippet(others={})

    alone = respond_tool({})["input_schema"]["properties"]
    assert not {"passTo", "delegateTo", "task"} & alone.keys()
    assert alone["turnState"]["enum"] == ["awaiting", "complete", "clarifying", "error"]


def test_the_note_can_be_stored() -> None:
    assert check_respond(call(RESPONSE, note="nul \x00 half \ud83d")).note == "nul \ufffd half \ufffd"


@pytest.mark.parametrize(
    ("state", "terminal", "emits", "holds"),
    [
        ("awaiting", False, False, True),
        ("complete", True, True, False),
        ("clarifying", True, False, False),
        ("error", True, False, False),
        ("suspended", False, False, False),
        ("delegated", False, False, True),
        ("passed", True, False, False),
    ],
)
def test_turn_states(state: str, terminal: bool, emits: bool, holds: bool) -> None:
    found = turn_states[state]

    assert (found.terminal, found.emits_envelope, found.holds_actor) == (terminal, emits, holds)


def test_a_consumers_own_state_and_type_can_be_used() -> None:
    snoozed = TurnState("acme.snoozed", True, False, False, meaning="later")
    with turn_states.including(snoozed):
        checked: RespondCall = check_respond(call(ACK, state="acme.snoozed"))
        assert turn_states[checked.state] is snoozed
        assert "acme.snoozed" in respond_tool()["input_schema"]["properties"]["turnState"]["enum"]
    refusal(call(ACK, state="acme.snoozed"))


def test_the_prompt_names_what_there_is() -> None:
    for name in (
        "respond",
        "ack",
        "response",
        "clarify",
        "awaiting",
        "complete",
        "<action>",
        "<injection>",
        "<\\action>",
    ):
        assert name in system_snippet()
