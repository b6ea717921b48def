"""The schema of respond(): a branch for each part type that an actor may emit, as strict as the check itself."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from envelopes.errors import RespondRefused
from envelopes.protocol.respond import MAX_PARTS, check_respond
from envelopes.protocol.respond_tool import offered, respond_tool
from envelopes.registries.actors import Actor
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.state_machines import Coordinate, StateMachine, state_machines


def branches(tool: Any = None) -> dict[str, Any]:
    found = (tool or respond_tool())["input_schema"]["properties"]["parts"]["items"]["anyOf"]
    return {one["properties"]["metadata"]["properties"]["partType"]["const"]: one for one in found}


def is_valid(part: Any, tool: Any = None) -> bool:
    schema = (tool or respond_tool())["input_schema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid({"parts": [part], "turnState": "awaiting"})


def is_taken(part: Any) -> bool:
    try:
        check_respond({"parts": [part], "turnState": "awaiting"})
    except RespondRefused:
        return False
    return True


def test_there_is_a_branch_for_each_type_with_metadata_first() -> None:
    found = branches()

    assert list(found) == [kind.name for kind in offered()]
    for name, branch in found.items():
        assert next(iter(branch["properties"])) == branch["required"][0] == "metadata", name
        assert "partId" in branch["properties"]["metadata"]["properties"]
    assert respond_tool()["input_schema"]["properties"]["parts"]["maxItems"] == MAX_PARTS


@pytest.mark.parametrize("kind", offered(), ids=lambda kind: kind.name)
def test_the_example_fits_its_branch_and_no_other(kind: PartType) -> None:
    part = kind.example_part()

    assert is_valid(part)
    assert [name for name, one in branches().items() if _fits(part, one)] == [kind.name]
    assert not is_valid({**part, "other": 1})
    assert not is_valid({**part, "metadata": {**part["metadata"], "partType": "no-such-part"}})


def _fits(part: Any, branch: Any) -> bool:
    shared = respond_tool()["input_schema"]["$defs"]
    return jsonschema.Draft202012Validator({**branch, "$defs": shared}).is_valid(part)


@pytest.mark.parametrize(
    ("part_type", "change"),
    [
        ("response", {"text": None}),
        ("response", {"data": {}}),
        ("clarify", {"data": {"choices": "Yes, No"}}),
        ("clarify", {"data": {"choices": [str(number) for number in range(13)]}}),
        ("progress", {"data": {"label": "no id"}}),
        ("progress", {"data": {"id": "x", "status": "almost"}}),
        ("error", {"data": {"retryPolicy": {"mode": "always"}}}),
        ("error", {"data": {"retry": "perhaps"}}),
        ("artifact", {"data": {"artifactId": "a"}}),
        ("artifact", {"data": {"artifactId": "a", "mimeType": "x/y", "sizeBytes": -1}}),
        ("a2ui-surface", {"data": []}),
        ("domain-data", {"data": None}),
    ],
)
def test_what_the_check_refuses_the_schema_does_not_offer(part_type: str, change: dict[str, Any]) -> None:
    part = {**part_types[part_type].example_part(), **change}

    assert not is_valid(part)
    assert not is_taken(part)


def test_what_was_enforced_and_not_told_is_told() -> None:
    found = branches()

    assert found["progress"]["properties"]["data"]["required"] == ["id"]
    assert found["citation"]["properties"]["data"]["required"] == ["path", "title"]
    assert found["clarify"]["properties"]["data"]["properties"]["choices"]["maxItems"] == 12
    for name in ("domain-data", "a2ui-surface", "citation"):
        assert {"dataKind", "slotKey"} < found[name]["properties"]["metadata"]["properties"].keys()
    assert "slotKey" not in found["response"]["properties"]["metadata"]["properties"]


def test_what_does_nothing_is_not_offered() -> None:
    def actor(**more: Any) -> Actor:
        return Actor("a", "A", "", "", lambda: None, **more)  # type: ignore[arg-type, return-value]

    def names(of: Actor) -> set[str]:
        return {kind.name for kind in offered(of)}

    alone = names(actor())
    assert not {"reasoning-trace", "setState", "approval-request", "approval-response"} & alone
    assert "llm-context" in alone
    assert "llm-context" not in names(actor(translator=lambda: None))
    machine = StateMachine("cart", {"status": Coordinate("open", {"open": ("paid",), "paid": ()})}, True)
    with state_machines.including(replace(machine, allow_handler_transitions=False)):
        assert "setState" not in names(actor())
    with state_machines.including(machine):
        assert "setState" in names(actor())
        data = branches(respond_tool(None, offered(actor())))["setState"]["properties"]["data"]
        assert data["properties"] == {"cart.status": {"enum": ["open", "paid"]}}
    with state_machines.including(replace(machine, name="shelf")):
        data = branches(respond_tool(None, offered(actor())))["setState"]["properties"]["data"]
        assert list(data["properties"]) == ["shelf.status"]


class Stop(BaseModel):
    """For whoever reads the code."""

    place: str
    nights: int | None = None


class Trip(BaseModel):
    stops: list[Stop]


TRIP = PartType(
    "acme.trip", frozenset({"actor"}), "flush", "once", data="required", data_model=Trip, description="a trip"
)


def test_the_payload_of_a_type_of_ones_own_is_in_the_schema() -> None:
    with part_types.including(TRIP):
        tool = copy.deepcopy(respond_tool())
        part = {
            "metadata": {"partType": "acme.trip", "slotKey": "main"},
            "data": {"stops": [{"place": "Paxos"}]},
        }

        assert is_valid(part, tool)
        assert not is_valid({**part, "data": {"stops": [{"nights": 2}]}}, tool)
    written = json.dumps(tool)
    assert "acme.trip.Stop" in tool["input_schema"]["$defs"]
    assert "For whoever reads the code" not in written and '"title": "Stop"' not in written
    assert "acme" not in json.dumps(respond_tool())


def test_the_schema_is_made_once() -> None:
    assert respond_tool({}) is respond_tool({})
    assert respond_tool({"a": "A"}) is not respond_tool({"a": "B"})
