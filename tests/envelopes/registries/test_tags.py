"""Tools by a word: an actor takes them, from whatever application, and staff find their actions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from django.core.checks import run_checks
from pydantic import BaseModel

from envelopes.models import ToolCall
from envelopes.providers.scripted import Reply, ScriptedProvider
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool, tools
from envelopes.types import Json
from tests import factories
from tests.envelopes.admin.pages import text_of, url, viewer


class Nothing(BaseModel):
    pass


async def run(context: object, args: Nothing) -> Json:
    return None


def tool(name: str, *tags: str, **more: Any) -> Tool:
    return Tool(name, f"Does {name}.", Nothing, run, tags=tags, **more)


def actor(*own: Tool, tagged: tuple[str, ...] = ()) -> Actor:
    provider = lambda: ScriptedProvider(lambda request: Reply([]))  # noqa: E731
    return Actor("mo", "Mo", "support", "Help.", provider, tools=own, tagged=tagged)


@pytest.fixture
def shared() -> Iterator[None]:
    """Tools that applications register."""
    with ExitStack() as stack:
        for one in (
            tool("find", "crm", "read-only"),
            tool("write", "crm"),
            tool("rate", "money", answers="rate"),
        ):
            stack.enter_context(tools.including(one))
        yield


@pytest.mark.usefixtures("shared")
def test_an_actor_has_the_tools_of_its_tags_behind_its_own() -> None:
    assert [one.name for one in actor(tagged=("crm",)).all_tools] == ["find", "write"]
    assert [one.name for one in actor(tagged=("read-only", "money")).all_tools] == ["find", "rate"]
    own = tool("Write")
    mo = actor(own, tagged=("crm", "read-only"))
    assert [one.name for one in mo.all_tools] == ["Write", "find"]
    assert [one.name for one in mo.offered] == ["Write", "find", "read_result"]
    assert mo.tool("find") is tools["find"] and mo.tool("write") is None and mo.tool("rate") is None
    found = actor(tagged=("money",)).answering("rate")
    assert found is tools["rate"]
    # Without a tag nothing changes.
    assert actor(own).all_tools == (own,) and actor().offered == []


@pytest.mark.usefixtures("shared")
def test_a_tag_that_no_tool_has_is_told_by_the_checks() -> None:
    sally = actors["sally"]
    with actors.including(replace(sally, tagged=("crm",))):
        assert "envelopes.W006" not in [found.id for found in run_checks()]
    with actors.including(replace(sally, tagged=("crm", "crmm"))):
        (found,) = [found for found in run_checks() if found.id == "envelopes.W006"]
    assert "has the tools tagged 'crmm': there are none" in found.msg
    assert "crm, money, read-only" in (found.hint or "")


@pytest.mark.usefixtures("shared")
@pytest.mark.django_db
def test_staff_find_actions_by_the_tags_of_their_tools() -> None:
    turn = factories.make_turn(factories.make_session())
    calls = [factories.make_call(turn, name=name, call_id=f"c-{name}") for name in ("find", "rate", "other")]
    tries = [{"seconds": 1.25, "ended": "returned"}]
    ToolCall.objects.filter(pk=calls[0].pk).update(tries=tries, seconds=1.25)
    client = viewer()
    listed = client.get(url(ToolCall, "changelist"), {"tag": "crm"})
    assert [call.name for call in listed.context["cl"].result_list] == ["find"]
    assert "1.2" in text_of(listed.content)
    assert not client.get(url(ToolCall, "changelist"), {"tag": "gone"}).context["cl"].result_list
    every = client.get(url(ToolCall, "changelist")).content.decode()
    assert "?tag=money" in every and "read-only" in every
    shown = text_of(client.get(url(calls[0], "change")).content)
    assert "crm, read-only" in shown and "Returned after 1.25 s." in shown
