"""Instructions of a conversation: a function of whose it is, asked for once a turn."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from envelopes.access import principal
from envelopes.errors import RegistrationError
from envelopes.providers.scripted import Call, Reply, Say, text
from envelopes.registries.actors import Actor, Instructing
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.desk import desk, replies
from tests.envelopes.registries.test_mistakes import Order

DONE = Reply([Say([text("response", "Done.")])])


async def order(context: ToolContext, args: Order) -> Json:
    return {}


@pytest.mark.django_db(transaction=True)
async def test_a_model_is_told_whose_conversation_it_is() -> None:
    asked: list[Instructing] = []

    def instructions(instructing: Instructing) -> str:
        asked.append(instructing)
        return f"You talk to {instructing.user.username}, number {User.objects.count()}."

    ada = await User.objects.acreate(username="ada")
    script = replies([Call("order", {"item": "lamp"})], DONE)
    tool = Tool("order", "Orders.", Order, order)
    async with desk(script, tool, owner=principal(ada, None), instructions=instructions) as d:
        await d.say("Order a lamp")
        assert {request.system.split("\n")[0] for request in d.requests} == {"You talk to ada, number 1."}
        assert len(d.requests) == 2
        (given,) = asked
        assert (given.actor, given.owner_name, given.session_id) == ("tester", "ada", d.session.public_id)
        assert (given.locale, given.timezone) == ("en-US", "UTC")


@pytest.mark.django_db(transaction=True)
async def test_a_function_that_raises_ends_the_turn_with_an_error(caplog: Any) -> None:
    def instructions(instructing: Instructing) -> str:
        raise KeyError("plan")

    async with desk(replies(DONE), instructions=instructions) as d:
        await d.say("Hello")
        assert [turn.turn_state for turn in await d.turns()] == ["error"]
        assert await d.texts("error") and d.requests == []
    assert "KeyError: 'plan'" in caplog.text


def test_what_gives_no_text_is_said() -> None:
    actor = Actor("mo", "Mo", "support", lambda instructing: None, lambda: None)  # type: ignore[arg-type, return-value]

    with pytest.raises(RegistrationError, match="`instructions` of the actor 'mo' gives a text, not None"):
        actor.instructions_for(Instructing("mo"))


def test_one_of_two_arguments_is_refused_where_it_is_written() -> None:
    with pytest.raises(RegistrationError, match="instructions is called with instructing: missing"):
        Actor("mo", "Mo", "support", lambda user, session: "", lambda: None)  # type: ignore[arg-type, return-value, misc]
