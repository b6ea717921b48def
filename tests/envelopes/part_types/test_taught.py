"""What models read of part types: for each that they may emit a line and an example, which is a part of that type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from a2ui import Engine, EngineOptions
from envelopes.checks import registered as checks
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.parts import check_part
from envelopes.protocol.respond import check_respond
from envelopes.protocol.respond_tool import offered, respond_tool
from envelopes.protocol.snippet import system_snippet
from envelopes.protocol.surfaces import messages_of
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.turn_states import TurnState, turn_states

EMITTED = offered()
MOST_BYTES = 4_000
"""The prompt is for many turns, and comes with each step of each of them."""


@pytest.mark.parametrize("kind", [kind for kind in part_types if kind.canonical], ids=lambda kind: kind.name)
def test_each_type_has_a_description_and_an_example_of_it(kind: PartType) -> None:
    part, found = check_part(kind.example_part(), origin=min(kind.origins))

    assert found is kind
    assert part.as_json() == kind.example_part()
    assert 10 < len(kind.description) < 100 and not kind.description.endswith(".")


@pytest.mark.parametrize("kind", EMITTED, ids=lambda kind: kind.name)
def test_the_prompt_has_a_line_for_each_that_an_actor_may_emit(kind: PartType) -> None:
    lines = system_snippet().split("Types of parts", 1)[1].splitlines()
    (line,) = [line for line in lines if line.startswith(f"  - `{kind.name}`: ")]

    assert line == f"  - {kind.taught}"
    assert kind.description in line and f'{{"metadata":{{"partType":"{kind.name}"' in line


def test_the_prompt_has_none_for_others_and_is_short() -> None:
    for kind in part_types:
        assert (f"`{kind.name}`" in system_snippet()) is (kind in EMITTED)

    assert len(system_snippet().encode()) < MOST_BYTES


def test_the_prompt_and_the_schema_are_made_from_what_is_registered() -> None:
    board = PartType("acme.board", frozenset({"actor"}), "flush", "drop", data="required")
    told = replace(
        board, description="a board", example={"data": {"rows": 2}, "metadata": {"slotKey": "main"}}
    )
    later = TurnState("acme.snoozed", True, False, False, meaning="not before tomorrow")
    with part_types.including(board):
        assert "  - `acme.board`\n" in system_snippet()
    with part_types.including(told), turn_states.including(later):
        snippet = system_snippet()
        last = respond_tool()["input_schema"]["properties"]["parts"]["items"]["anyOf"][-1]

    line = '`acme.board`: a board; {"metadata":{"partType":"acme.board","slotKey":"main"},"data":{"rows":2}}'
    assert f"  - {line}\n" in snippet
    assert "  - `acme.snoozed`: not before tomorrow\n" in snippet
    assert last["properties"]["metadata"]["properties"]["partType"] == {"const": "acme.board"}
    assert "acme" not in system_snippet()


def test_a_slot_key_is_taken_and_offered() -> None:
    part = {"metadata": {"partType": "domain-data", "slotKey": "trip.rome"}, "data": {"days": 3}}

    assert check_respond({"parts": [part], "turnState": "complete"}).parts[0].metadata.slotKey == "trip.rome"


def test_the_example_of_an_interface_is_one() -> None:
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    found = [
        diagnostic
        for message in messages_of(A2UI_SURFACE.example["data"])
        for diagnostic in surfaces.apply(message, owner="sally")
    ]

    surfaces.flush()
    assert [*found, *surfaces.diagnostics()] == []
    assert "Hello" in next(iter(surfaces)).html()


BOARD = PartType("acme.board", frozenset({"actor"}), "flush", "drop", data="required")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"example": {"text": "no data"}}, "needs data"),
        ({"example": {"data": [1]}}, "dictionary"),
        ({"example": {"data": {"x": "y" * checks.MOST_TAUGHT}}}, "bytes"),
        ({"description": "x" * (checks.MOST_TAUGHT + 1)}, "bytes"),
        ({"example": {"data": {"x": object()}}}, "JSON"),
    ],
)
def test_an_example_that_is_none_is_an_error_at_start_up(change: dict[str, Any], told: str) -> None:
    assert checks.taught(None) == []
    with part_types.including(replace(BOARD, **change)):
        (error,) = checks.taught(None)

    assert (error.id, error.is_serious()) == ("envelopes.E009", True)
    assert "acme.board" in error.msg and __name__ in error.msg
    assert told in f"{error.msg} {error.hint}"
