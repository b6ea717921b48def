"""However an answer has ended, it keeps its own messages alone, and the models of later ones read what all before them
have said."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes import intake
from envelopes.models import Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, text
from envelopes.providers.transcript import CONTEXT, injection_kind, turn_in
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json
from tests.desk import Desk, desk

pytestmark = pytest.mark.django_db(transaction=True)

WORD = re.compile(r"\bword\d+")


class Nothing(BaseModel):
    """A tool without arguments."""


@dataclass
class Held:
    """A tool that waits until it is told."""

    called: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def hold(self, context: ToolContext, args: Nothing) -> Json:
        self.called.set()
        await self.go_on.wait()
        return {"held": True}


async def _pay(context: ToolContext, args: Nothing) -> Json:
    return {"paid": True}


def _begun(request: ModelRequest) -> Reply:
    """The first reply, as the first word of what was said asks for it."""
    told = Conversation(request).text
    match told.split()[0]:
        case "Clarify":
            return Reply([Say([text("clarify", f"Which one of {told}?")], "clarifying")])
        case "Fail":
            return Reply([Say([text("error", f"No {told}.")], "error")])
        case "Pay":
            return Reply([Call("pay")])
        case "Hold":
            return Reply([Say([text("ack", f"Holding {told}.")], "awaiting"), Call("hold")])
        case "Pass":
            return Reply([Say([text("response", f"On with {told}.")], "passed", pass_to="other")])
        case "Ask":
            return Reply([Say([text("ack", "I ask.")], "delegated", delegate_to="other", task="Help.")])
        case _:
            return Reply([Say([text("response", f"To {told}: yes.")])])


def _script(request: ModelRequest) -> Reply:
    read = Conversation(request)
    if not read.replies:
        return _begun(request)
    return Reply([Say([text("response", f"So much for {' and '.join([read.text, *read.joined])}.")])])


def _other(request: ModelRequest) -> Reply:
    return Reply([Say([text("response", f"The other one on {Conversation(request).text}.")])])


async def _simply(d: Desk, held: Held, said: str) -> None:
    await d.say(said)


async def _after_a_decision(d: Desk, held: Held, said: str) -> None:
    await d.say(said)
    # Another one comes and goes while it waits.
    await d.say("Answer word7")
    await d.decide("granted" if said.endswith("1") else "denied")


async def _stopped(d: Desk, held: Held, said: str) -> None:
    held.called.clear()
    await d.say(said, wait=False)
    await held.called.wait()
    await sync_to_async(intake.stop)(d.session, d.owner, d.id())
    await d.quiet()


async def _joined(d: Desk, held: Held, said: str) -> None:
    held.called.clear()
    await d.say(said, wait=False)
    await held.called.wait()
    await d.say(f"Join {said.split()[1]}00", wait=False)
    held.go_on.set()
    await d.quiet()
    held.go_on.clear()


ENDS: dict[str, tuple[str, Callable[[Desk, Held, str], Awaitable[None]], list[str]]] = {
    "complete": ("Answer", _simply, ["complete"]),
    "clarifying": ("Clarify", _simply, ["clarifying"]),
    "error": ("Fail", _simply, ["error"]),
    "approved": ("Pay", _after_a_decision, ["complete", "complete"]),
    "stopped": ("Hold", _stopped, ["cancelled"]),
    "joined": ("Hold", _joined, ["complete", "passed"]),
    "passed": ("Pass", _simply, ["passed", "complete"]),
    "delegated": ("Ask", _simply, ["complete", "complete"]),
}


@pytest.mark.parametrize("how", ENDS)
async def test_an_answer_keeps_its_own_messages_alone_and_later_ones_read_of_all(how: str) -> None:
    verb, go_through, ended = ENDS[how]
    held = Held()
    tools = (
        Tool("hold", "Holds.", Nothing, held.hold),
        Tool("pay", "Pays.", Nothing, _pay, approval=ApprovalPolicy(question=lambda args: "Really?")),
    )
    async with desk(_other, name="other") as other, desk(_script, *tools) as d:
        await d.say("Answer word0")
        for number in (1, 2):
            await go_through(d, held, f"{verb} word{number}")
        await d.say("Answer word3")

        turns = await d.turns()
        assert [turn.finalized_by for turn in turns] == ["complete", *ended, *ended, "complete"]
        assert {turn.status for turn in turns} == {"settled"}
        for turn in turns:
            _is_its_own(turn, [each for each in turns if each.joined_id == turn.pk])
        # While it goes on, also after it has waited, its model reads of those before it.
        assert all("Answer word0" in json.dumps(request.messages) for request in d.requests + other.requests)
        # What was not its own stands in the log.
        assert {f"word{number}" for number in range(4)} <= {
            *WORD.findall(json.dumps(d.requests[-1].messages))
        }


def _is_its_own(turn: Turn, joined: list[Turn]) -> None:
    """What began it and what joined it, and of all other turns nothing."""
    if not turn.messages:
        assert turn.joined_id is not None, "it was answered in another one"
        return
    own = {*WORD.findall(json.dumps([turn.trigger, *(each.trigger for each in joined)]))}
    assert {*WORD.findall(json.dumps(turn.messages))} == own
    first: dict[str, Any] = turn.messages[0]
    assert injection_kind(first["content"][0]) == CONTEXT and turn_in(first) == turn.number
    assert sum(bool(turn_in(message)) for message in turn.messages) == 1
