"""Actions, deliveries and context against a contract (6.1, 8, 10.4 rows 15 to 19)."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.transports.live.contracts import (
    CONTRACT_VIOLATION_NUMBER,
    ContractViolation,
    Violation,
    contract_of,
    undeclared_action,
)

TEXT = {"type": "string"}
TODOS = {
    "type": "object",
    "properties": {"todos": {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}}}},
    "required": ["todos"],
}
CONTRACT = contract_of(
    {
        "actionSpec": {
            "toggle": {"schema": TODOS, "nextStep": "save"},
            "archive": {},
            "none": {"schema": {"type": "null"}},
        },
        "streamSpec": {
            "log": {"schema": TEXT},
            "state": {"schema": TODOS, "mode": "replace", "replay": "all", "complete": True},
            "_other": {"schema": TEXT},
        },
        "contextSpec": {"step": {"schema": {"type": "integer"}}, "note": {"schema": TEXT}},
        "agentCapabilities": {"tools": {"save": {"toolInfo": {"inputSchema": TODOS}}}},
    }
)


ACTIONS: list[tuple[str, Any, list[tuple[str, str | None]]]] = [
    ("as declared", {"action": "toggle", "data": {"todos": [{"id": "1"}]}}, []),
    ("no payload", None, [("value", None)]),
    ("a text", "toggle", [("value", None)]),
    ("a list", [], [("value", None)]),
    ("no action", {"data": {}}, [("action", None)]),
    ("an empty one", {"action": ""}, [("action", None)]),
    ("a blank one", {"action": "  "}, [("action", None)]),
    ("one that is no text", {"action": 7}, [("action", None)]),
    ("undeclared", {"action": "doesNotExist"}, [("action", None)]),
    ("a void one with data", {"action": "archive", "data": {"any": 1}}, []),
    ("a void one without", {"action": "archive"}, []),
    ("null is data", {"action": "none", "data": None}, []),
    ("no data", {"action": "toggle"}, [("toggle.data", "required")]),
    ("data of another type", {"action": "toggle", "data": 3}, [("toggle.data", "type")]),
    ("missing required", {"action": "toggle", "data": {}}, [("toggle.data.todos", "required")]),
    ("the path of the reading", {"action": "toggle", "data": {"todos": [{"done": True}]}}, [
        ("toggle.data.todos[0].done", "additionalProperties")]),
    ("all of them", {"action": "toggle", "data": {"todos": [{"id": 1}, 2], "x": 1}}, [
        ("toggle.data.todos[0].id", "type"), ("toggle.data.todos[1]", "type"),
        ("toggle.data.x", "additionalProperties")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "expected"), [row[1:] for row in ACTIONS], ids=[row[0] for row in ACTIONS]
)
def test_an_action(payload: Any, expected: list[tuple[str, str | None]]) -> None:
    try:
        CONTRACT.action(payload)
        found: tuple[Violation, ...] = ()
    except ContractViolation as refused:
        found = refused.violations

    assert [(violation.field, violation.keyword) for violation in found] == expected


def test_the_details_of_a_violation_are_those_of_the_frame() -> None:
    with pytest.raises(ContractViolation) as refused:
        CONTRACT.action({"action": "toggle", "data": {"todos": 41}})

    error = refused.value
    assert error.code == "CONTRACT_VIOLATION"
    assert error.message == (
        "Contract violation in ggui_event:\n- toggle.data.todos: Is of the type number, not array."
    )
    hint = error.details.pop("hint")
    assert hint.startswith("The action does not fit the actionSpec")
    assert {key: value for key, value in error.details.items() if key != "hint"} == {
        "error": "contract_violation",
        "tool": "ggui_event",
        "jsonRpcCode": CONTRACT_VIOLATION_NUMBER,
        "violations": [
            {
                "field": "toggle.data.todos",
                "message": "Is of the type number, not array.",
                "expected": "array",
                "received": "number",
                "keyword": "type",
            }
        ],
    }
    assert CONTRACT_VIOLATION_NUMBER == -32020


def test_an_undeclared_action_is_told_which_there_are() -> None:
    with pytest.raises(ContractViolation) as refused:
        CONTRACT.action({"action": "doesNotExist"})
    (violation,) = refused.value.violations
    assert violation.message == (
        "'doesNotExist' is no action of this session. Declared: archive, none, toggle."
    )
    assert violation.expected == "archive, none, toggle"

    with pytest.raises(ContractViolation) as refused:
        contract_of({"actionSpec": {}}).action({"action": "go"})
    assert refused.value.violations[0].expected == "(none)"


def test_without_an_action_spec_every_action_is_taken() -> None:
    free = contract_of({"streamSpec": {"log": {"schema": TEXT}}})

    assert free.action({"action": "go", "data": 3}).as_json() == {"action": "go", "data": 3}
    assert free.action(["anything"]).as_json() == {"action": "", "data": ["anything"]}
    assert undeclared_action({"action": "go"}).as_json() == {"action": "go", "data": None}


def test_the_tool_is_ours() -> None:
    declared = {"action": "toggle", "data": {"todos": []}}

    assert CONTRACT.action(declared).tool == "save"
    assert CONTRACT.action({**declared, "tool": "delete_everything"}).as_json() == {
        **declared,
        "tool": "save",
    }
    assert CONTRACT.action({"action": "archive", "tool": "delete_everything"}).as_json() == {
        "action": "archive",
        "data": None,
    }
    assert undeclared_action({"action": "go", "tool": "delete_everything"}).tool is None


DELIVERIES: list[tuple[str, str, Any, list[tuple[str, str | None]]]] = [
    ("as declared", "log", "hello", []),
    ("of another type", "log", 3, [("log.payload", "type")]),
    ("null", "log", None, [("log.payload", "type")]),
    ("a path", "state", {"todos": [{"done": 1}]}, [("state.payload.todos[0].done", "additionalProperties")]),
    ("an unknown channel", "lgo", "x", [("channel", None)]),
    ("an underscore is no reservation", "_other", "x", []),
    ("nor is that checked less", "_other", 1, [("_other.payload", "type")]),
    ("a preview", "_ggui:preview", {"anything": True}, []),
    ("a preview that ends", "_ggui:preview", None, []),
    *[(f"the typo {name}", name, {"kind": "render_started", "sessionId": "s", "intent": "i"}, [("channel", None)])
      for name in ("_ggui:preveiw", "_ggui:preview-", "_ggui:lifecycel", "_ggui:contract-error", "_ggui:", "_ggui:x")],
]  # fmt: skip


@pytest.mark.parametrize(
    ("channel", "payload", "expected"), [row[1:] for row in DELIVERIES], ids=[row[0] for row in DELIVERIES]
)
def test_a_delivery(channel: str, payload: Any, expected: list[tuple[str, str | None]]) -> None:
    found = CONTRACT.delivery_violations(channel, payload)

    assert [(violation.field, violation.keyword) for violation in found] == expected


def test_a_check_that_is_brought_along_decides_for_the_servers_own_channels_only() -> None:
    refusal = Violation("_ggui:preview.payload", "No.")
    checks = {
        "_ggui:preview": lambda payload: [refusal],
        "_ggui:lifecycle": lambda payload: [],
        "log": lambda payload: [],
    }

    assert CONTRACT.delivery_violations("_ggui:preview", {}, checks) == [refusal]
    assert CONTRACT.delivery_violations("_ggui:lifecycle", "no object", checks) == []
    assert CONTRACT.delivery_violations("log", 3, checks) != []


def test_mode_policy_and_completion_have_no_say_in_payloads() -> None:
    for mode in ("append", "replace"):
        for replay in ("none", "latest", "all"):
            for complete in (True, False):
                entry = {"schema": TEXT, "mode": mode, "replay": replay, "complete": complete}
                contract = contract_of({"streamSpec": {"log": entry}})
                assert contract.delivery_violations("log", "x") == []
                assert [violation.keyword for violation in contract.delivery_violations("log", 1)] == ["type"]


def test_a_channel_says_how_it_is_folded_and_kept() -> None:
    state, log = CONTRACT.channel("state"), CONTRACT.channel("log")

    assert state is not None and (state.mode, state.replay, state.completable) == ("replace", "all", True)
    assert log is not None and (log.mode, log.replay, log.completable) == ("append", "none", False)
    assert CONTRACT.channel("_ggui:preview") is None and CONTRACT.channel("lgo") is None


LIFECYCLE: list[tuple[Any, list[tuple[str, str]]]] = [
    ({"kind": "handshake_started", "handshakeId": "h", "intent": "i"}, []),
    ({"kind": "handshake_started", "handshakeId": "h", "intent": "i", "more": 1}, []),
    ({"kind": "handshake_completed", "handshakeId": "h", "outcome": "cached", "genExpected": False}, []),
    ({"kind": "render_started", "sessionId": "s", "intent": ""}, []),
    ({"kind": "consume_polling", "sessionId": "s", "state": "open"}, []),
    (None, [("", "type")]),
    ([], [("", "type")]),
    ("render_started", [("", "type")]),
    ({}, [(".kind", "enum")]),
    ({"kind": 3}, [(".kind", "enum")]),
    ({"kind": ["render_started"]}, [(".kind", "enum")]),
    ({"kind": "render_ended"}, [(".kind", "enum")]),
    ({"kind": "handshake_started"}, [(".handshakeId", "required"), (".intent", "required")]),
    ({"kind": "render_started", "sessionId": 1, "intent": None}, [(".sessionId", "type"), (".intent", "type")]),
    ({"kind": "handshake_completed", "handshakeId": "h", "outcome": "lost", "genExpected": 1}, [
        (".outcome", "enum"), (".genExpected", "type")]),
    ({"kind": "consume_polling", "sessionId": "s", "state": "closed"}, [(".state", "enum")]),
]  # fmt: skip


@pytest.mark.parametrize(("payload", "expected"), LIFECYCLE)
def test_a_payload_of_the_lifecycle_channel(payload: Any, expected: list[tuple[str, str]]) -> None:
    found = CONTRACT.delivery_violations("_ggui:lifecycle", payload)

    assert [(v.field.removeprefix("_ggui:lifecycle.payload"), v.keyword) for v in found] == expected
