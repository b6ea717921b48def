"""Names are checked where they are written: nobody reads one name and gets another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.errors import RegistrationError
from envelopes.registries.actors import Actor
from envelopes.registries.base import Registry
from envelopes.registries.part_types import PartType, PartTypeRegistry
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.registries.turn_states import TurnState
from envelopes.types import Json
from tests import factories


class Nothing(BaseModel):
    pass


async def _run(context: object, args: Nothing) -> Json:
    return None


def tool(name: Any) -> Tool:
    return Tool(name, "", Nothing, _run)


def actor(name: Any = "tester", *tools: Tool, display_name: str = "Tester") -> Actor:
    return Actor(name, display_name, "", "", factories.no_model, tools=tools)


NO_NAMES: dict[str, Any] = {
    "empty": "",
    "blank": " ",
    "inner blank": "book flight",
    "no-break blank": "book\u00a0flight",
    "zero width": "book\u200b",
    "direction": "book\u202eevom",
    "Cyrillic o": "b\u043eok",
    "full width": "\uff42ook",
    "combining": "boo\u0301k",
    "dot": "shop.book",
    "slash": "shop/book",
    "line end": "book\n",
    "NUL": "book\x00",
    "too long": "b" * 65,
    "no text": None,
}


@pytest.mark.parametrize("name", NO_NAMES.values(), ids=NO_NAMES)
def test_x6_a_tool_name_that_could_be_taken_for_another_is_refused_where_it_is_written(name: Any) -> None:
    with pytest.raises(RegistrationError):
        tool(name)


@pytest.mark.parametrize("name", ["respond", "Respond", "RESPOND"])
def test_x6_nobody_else_has_a_tool_called_respond(name: str) -> None:
    with pytest.raises(RegistrationError, match="runtime's own tool"):
        tool(name)


@pytest.mark.parametrize(("one", "other"), [("book", "book"), ("book", "Book"), ("book_it", "BOOK_IT")])
def test_x6_an_actor_has_no_two_tools_of_one_name(one: str, other: str) -> None:
    with pytest.raises(RegistrationError, match="has two tools called"):
        actor("tester", tool("search"), tool(one), tool(other))


def test_x6_a_copy_with_another_name_is_checked_as_well() -> None:
    with pytest.raises(RegistrationError):
        replace(tool("book"), name="b\u200book")


@pytest.mark.parametrize("name", ["book", "Book-2_now", "b" * 64, "9", "-"])
def test_names_that_the_messages_api_takes(name: str) -> None:
    assert tool(name).definition()["name"] == name


def test_the_definition_of_a_tool_is_made_once() -> None:
    made = tool("book")
    assert made.definition() is made.definition()
    assert replace(made, name="rebook").definition()["name"] == "rebook"


@pytest.mark.parametrize("name", [value for key, value in NO_NAMES.items() if key != "dot"])
def test_x6_names_of_actors_part_types_and_turn_states_are_names_too(name: Any) -> None:
    states: Registry[TurnState] = Registry("turn state")
    types = PartTypeRegistry("part type")
    for attempt in (
        lambda: actor(name),
        lambda: states.register(TurnState(name, True, True, False)),
        lambda: types.register(PartType(name, frozenset({"actor"}), "flush", "once", canonical=True)),
    ):
        with pytest.raises(RegistrationError):
            attempt()
    assert (states.names(), types.names()) == ((), ())


@pytest.mark.parametrize("name", ["", "\u200b", "Sally\u202e", "Sal\u200bly", "\u2066Sally", "Sally\x07"])
def test_x6_what_people_call_an_actor_can_be_seen(name: str) -> None:
    with pytest.raises(RegistrationError, match="call an actor"):
        actor(display_name=name)


def test_x6_a_name_in_other_letter_case_is_taken() -> None:
    states: Registry[TurnState] = Registry("turn state")
    states.register(TurnState("review", True, True, False))
    with pytest.raises(RegistrationError, match="registered already"):
        states.register(TurnState("Review", True, True, False))


def test_the_peers_of_a_policy_are_names_and_not_one_text() -> None:
    """Of a text, a part is "in" it: a peer called "desk" would decide what "helpdesk" may."""
    with pytest.raises(RegistrationError, match="list of names"):
        ApprovalPolicy(lambda args: "Pay?", peers="helpdesk")
