"""The real clients against loopback APIs, through a whole turn to a socket."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from envelopes.fakes import FakeChatApi, FakeMessagesApi, Refusal, Reply, Text, Thinking, call, respond, said
from envelopes.fakes import Tool as ToolBlock
from envelopes.models import Event
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.openai import OpenAIProvider
from envelopes.registries.actors import actors
from envelopes.registries.tools import Tool
from envelopes.types import Json
from tests.desk import replies
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)


class City(BaseModel):
    city: str


async def _weather(context: object, args: City) -> Json:
    return {"city": args.city, "degrees": 24}


Api = FakeMessagesApi | FakeChatApi


def _provider(api: Api) -> AnthropicProvider | OpenAIProvider:
    if isinstance(api, FakeChatApi):
        return OpenAIProvider("key", "gpt-test", base_url=api.address)
    return AnthropicProvider("key", model="claude-test", base_url=api.base_url)


@asynccontextmanager
async def claude(
    *answers: Reply | Refusal, speaks: type[Api] = FakeMessagesApi
) -> AsyncIterator[tuple[Socket, Api]]:
    """A socket to a session whose actor is the real client, which talks to the fake server."""
    async with speaks(replies=deque(answers)) as api, panel(replies([])) as (session, browser, _):
        made = actors["tester"]
        fields: dict[str, Any] = {
            **vars(made),
            "provider": lambda: _provider(api),
            "tools": (Tool("weather", "The weather.", City, _weather),),
        }
        with actors.including(type(made)(**fields)):
            socket = await Socket(browser, session.public_id).open()
            yield socket, api
            await socket.close()
            assert api.problems == []


@pytest.mark.parametrize("speaks", [FakeMessagesApi, FakeChatApi])
async def test_a_whole_turn_with_a_tool_call_reaches_the_socket_as_it_is_written(speaks: type[Api]) -> None:
    words = "It is 24 degrees in Corfu, with a light wind from the north-west. " * 4
    async with claude(
        Reply(
            (
                Thinking("hm"),
                respond(said("Looking.", "ack"), state="awaiting"),
                call("weather", city="Corfu"),
            )
        ),
        Reply((respond(said(words)),), pace=0.002),
        speaks=speaks,
    ) as (socket, api):
        await socket.ask({"type": "message", "text": "How warm is it in Corfu?"})
        first = await socket.until(lambda f: f.get("type") == "delta" and f["partType"] == "response")
        # The reply is still being written: text inside respond() reached the socket before the call was complete.
        assert api.requests[-1].fragments < len(words) // 7
        assert words.startswith(first["text"])
        await socket.until(lambda f: f.get("busy") is False and "ops" in f, seconds=15)
        streamed = [f for f in socket.frames if f.get("type") == "delta" and f["partType"] == "response"]
        assert "".join(f["text"] for f in streamed) == words
        second = api.requests[1].body["messages"]
        if speaks is FakeMessagesApi:
            assert second[-2]["content"][0]["type"] == "thinking"
            assert [block["type"] for block in second[-1]["content"]] == ["tool_result", "tool_result"]
            assert '"degrees":24' in second[-1]["content"][1]["content"]
        else:
            assert second[-3]["reasoning_content"] == "hm"
            assert [message["role"] for message in second[-2:]] == ["tool", "tool"]
            assert '"degrees":24' in second[-1]["content"]
        # What it thought stands in the log, for staff.
        kept = await Event.objects.aget(part_type="reasoning-trace")
        told = {"text": "hm", "model": api.requests[0].body["model"]}
        assert (kept.audience, kept.data["part"]["data"]) == ("audit", told)


@pytest.mark.parametrize(
    "broken",
    [
        Reply((respond(said("This is cut in the middle of its only sentence.")),), fail="drop"),
        Reply((respond(said("This is cut in the middle of its only sentence.")),), fail="silent"),
        Reply((respond(said("This is cut in the middle of its only sentence.")),), fail="error"),
        Reply((respond(said("This is cut in the middle of its only sentence.")),), fail="max_tokens"),
        Reply((Text("Prose that nobody may see."),)),
    ],
    ids=["drop", "silent", "error event", "max_tokens", "prose"],
)
@pytest.mark.parametrize("speaks", [FakeMessagesApi, FakeChatApi])
async def test_a_reply_that_goes_wrong_is_withdrawn_and_asked_for_again(
    speaks: type[Api], broken: Reply
) -> None:
    async with claude(broken, Reply((respond(said("Whole.")),)), speaks=speaks) as (socket, api):
        await socket.ask({"type": "message", "text": "Hello"})
        await socket.until(lambda f: "Whole." in str(f.get("ops")), seconds=15)
        await socket.until(lambda f: f.get("busy") is False and "ops" in f)
        assert "nobody may see" not in socket.shown
        started = {f["live"] for f in socket.frames if f.get("type") == "delta"}
        for key in started:
            assert f"v{key}" in socket.shown
        assert len(api.requests) == 2


async def test_a_refusal_of_the_api_ends_in_an_error_for_the_person() -> None:
    async with claude(Refusal(401, "authentication_error", "invalid x-api-key")) as (socket, _):
        await socket.ask({"type": "message", "text": "Hello"})
        await socket.until(lambda f: f.get("busy") is False and "ops" in f and f["seq"] > 3, seconds=15)
        assert "b-error" in socket.shown
        await asyncio.sleep(0)


@pytest.mark.parametrize("ends", ["delegated", "passed"])
@pytest.mark.parametrize("speaks", [(FakeMessagesApi, FakeChatApi), (FakeChatApi, FakeMessagesApi)])
async def test_one_model_hands_work_to_another_of_another_provider(
    speaks: tuple[type[Api], type[Api]], ends: str
) -> None:
    """Thinking that one has signed and calls that only one has made are nothing for the other; what came of them is."""
    begin = [Reply((Thinking("SECRET"), call("weather", city="Corfu")))]
    to = {"delegateTo": "drafter", "task": "Draft it."} if ends == "delegated" else {"passTo": "drafter"}
    handed = ToolBlock(
        "respond", json.dumps({"parts": [said("One moment.", "ack")], "turnState": ends, **to})
    )
    begin.append(Reply((Thinking("SECRET"), handed)))
    if ends == "delegated":
        begin.append(Reply((respond(said("Sent.")),)))
    first, second = speaks
    draft = Reply((Thinking("OTHER"), respond(said("It is warm: 24 degrees."))))
    async with second(replies=deque([draft])) as other, claude(*begin, speaks=first) as (socket, api):
        named = {"name": "drafter", "display_name": "Drafter", "provider": lambda: _provider(other)}
        drafter = type(actors["tester"])(**{**vars(actors["tester"]), **named})
        with actors.including(drafter):
            await socket.ask({"type": "message", "text": "Write about Corfu"})
            last = "Sent." if ends == "delegated" else "It is warm: 24 degrees."
            await socket.until(lambda f: last in json.dumps(f), seconds=10)
            await socket.until(lambda f: f.get("busy") is False and "ops" in f, seconds=10)
        assert other.problems == []
        (asked,) = [json.dumps(one.body) for one in other.requests]
        assert '\\"degrees\\":24' in asked and "SECRET" not in asked
        assert "It is warm: 24 degrees." in socket.shown
        assert ("Sent." in socket.shown) == (ends == "delegated")
        if ends == "delegated":
            told = json.dumps(api.requests[-1].body)
            assert "It is warm: 24 degrees." in told and "OTHER" not in told
