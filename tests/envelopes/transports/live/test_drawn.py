"""Surfaces on the live channel: in the version that each reader draws, clicked and edited by the agent's own ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from a2ui.compose import Surface, event, path
from a2ui.compose.beach import Form, field
from envelopes.delivery.wanted import wanted_by
from envelopes.models import Event
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool
from envelopes.transports.live import declare, views
from envelopes.types import JsonObject
from tests.desk import Script, replies
from tests.envelopes.transports.live.client import Channel, live
from tests.writers import BASIC

pytestmark = pytest.mark.django_db(transaction=True)

COMPONENTS: list[JsonObject] = [
    {"id": "root", "component": "Column", "children": ["name", "shown", "go"]},
    {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/name"}},
    {"id": "shown", "component": "Text", "text": {"path": "/name"}},
    {
        "id": "go",
        "component": "Button",
        "child": "label",
        "action": {"event": {"name": "go", "context": {"who": {"path": "/name"}}}},
    },
    {"id": "label", "component": "Text", "text": "Go"},
]


def surface(*messages: JsonObject) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": list(messages)}}


SHOW = surface(
    {"version": "v0.9", "createSurface": {"surfaceId": "form", "catalogId": BASIC}},
    {"version": "v0.9", "updateComponents": {"surfaceId": "form", "components": COMPONENTS}},
    {"version": "v0.9", "updateDataModel": {"surfaceId": "form", "path": "/name", "value": "Ada"}},
)
CHANNEL = "beach:surface/tester/form"


class Nothing(BaseModel):
    pass


def target(component: str) -> JsonObject:
    return {"target": {"owner": "tester", "surfaceId": "form", "componentId": component}}


def script() -> Script:
    """It counts what it is asked: each test has its own."""
    return replies([Say([SHOW, text("response", "Here.")])], [Say([text("response", "Hello!")])])


def on_form(channel: Channel) -> list[Any]:
    return [message for one in channel.on(CHANNEL) for message in one["payload"]["messages"]]


async def test_two_readers_of_two_versions_draw_edit_and_click() -> None:
    async with live(script()) as (session, caller):
        old = await Channel(token=caller.token).open()
        ack = await old.subscribe(session, a2ui=["v0.9"])
        assert ack["payload"]["a2ui"] == "0.9"
        assert ack["payload"]["session"]["surfaces"] == []
        await old.act(session, "beach:message", {"text": "Hi"})
        await old.settled()
        assert {message["version"] for message in on_form(old)} == {"v0.9"}
        assert [next(iter(set(message) - {"version"})) for message in on_form(old)] == [
            "createSurface",
            "updateDataModel",
            "updateComponents",
        ]

        new = await Channel(token=caller.token).open()
        (shown,) = (await new.subscribe(session))["payload"]["session"]["surfaces"]
        assert (shown["channel"], shown["owner"], shown["surfaceId"]) == (CHANNEL, "tester", "form")
        (created,) = shown["messages"]
        assert created["version"] == "1.0"
        assert created["createSurface"]["dataModel"] == {"name": "Ada"}

        edited = await old.act(session, "beach:edit", {**target("name"), "value": "Grace"})
        assert edited["type"] == "ack", edited
        for channel, version in ((old, "v0.9"), (new, "1.0")):
            await channel.until(lambda frame: frame["payload"].get("channel") == CHANNEL)
            told = channel.on(CHANNEL)[-1]["payload"]
            assert told["by"] == "person"
            assert told["messages"] == [
                {
                    "version": version,
                    "updateDataModel": {"surfaceId": "form", "path": "/name", "value": "Grace"},
                }
            ]

        clicked = await new.act(session, "beach:click", target("go"))
        assert clicked["type"] == "ack", clicked
        await new.settled()
        (action,) = [one for one in new.data if one["channel"] == "beach:response"]
        assert action["payload"]["part"]["text"] == "Hello!"

        back = await Channel(token=caller.token).open()
        await back.subscribe(session, a2ui=["0.9"], fromSeq=0)
        await back.until(lambda frame: frame["payload"].get("seq") == new.seqs[-1])
        assert on_form(back)[:3] == on_form(old)[:3]
        assert on_form(back)[3]["updateDataModel"]["value"] == "Grace"
        for channel in (old, new, back):
            await channel.close()


async def test_what_is_not_on_a_surface_is_told(settings: Any) -> None:
    async with live(script()) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        for action, data in (
            ("beach:click", target("go")),
            ("beach:edit", {**target("name"), "value": "x"}),
            ("beach:click", {"target": 7}),
            ("beach:edit", target("name")),
        ):
            assert (await channel.act(session, action, data))["type"] == "error"
        await channel.close()


@pytest.mark.parametrize("version", ["v0.9", "0.9.1", "1.0"])
async def test_integers_of_any_length_come_as_they_are(version: str) -> None:
    long = 12345678901234567890123456789
    write = {"version": "v0.9", "updateDataModel": {"surfaceId": "form", "path": "/name", "value": long}}
    async with live(replies([Say([SHOW, surface(write), text("response", "Here.")])])) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session, a2ui=[version])
        await channel.act(session, "beach:message", {"text": "Hi"})
        await channel.settled()
        written = [
            message["updateDataModel"].get("value")
            for message in on_form(channel)
            if "updateDataModel" in message
        ]
        assert written[-1] == long
        back = await Channel(token=caller.token).open()
        (shown,) = (await back.subscribe(session, a2ui=[version]))["payload"]["session"]["surfaces"]
        assert str(long) in str(shown["messages"])
        await back.close()
        await channel.close()


async def test_the_session_comes_again_when_its_interface_has_changed_as_a_whole() -> None:
    gone = surface({"version": "v0.9", "deleteSurface": {"surfaceId": "form"}})
    write = surface(
        {"version": "v0.9", "updateDataModel": {"surfaceId": "form", "path": "/name", "value": "B"}}
    )
    done = text("response", "Here.")

    async def redeclare(context: Any, args: Any) -> Any:
        await sync_to_async(declare)(context.session_id, {"actionSpec": {"pay": {}}})

    tool = Tool("redeclare", "Declares.", Nothing, redeclare)
    script = replies(
        [Say([SHOW, done])], [Say([write, done])], [Call("redeclare", {})], [Say([done])], [Say([gone, done])]
    )
    async with live(script, tool) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)

        async def rendered() -> Any:
            await channel.act(session, "beach:message", {"text": "Go"})
            frame = await channel.until(lambda frame: frame["type"] == "render")
            return frame["payload"]["session"]

        made = await rendered()
        assert made["surfaces"] == [{"channel": CHANNEL, "owner": "tester", "surfaceId": "form"}]
        # What it is made of has come before.
        assert [one["payload"].get("channel") for one in channel.frames][-2] == CHANNEL
        assert made["id"] == session.public_id
        await channel.settled()
        await channel.act(session, "beach:message", {"text": "Only write"})
        await channel.settled()
        declared = await rendered()
        assert declared["actionSpec"] == {"pay": {}}
        assert declared["surfaces"] == made["surfaces"]
        ended = await rendered()
        assert ended["surfaces"] == []
        await channel.settled()
        await channel.pong()
        assert sum(one["type"] == "render" for one in channel.frames) == 3
        # Nothing of it is counted, nor comes again: the ack has the session.
        assert channel.seqs == list(range(1, len(channel.seqs) + 1))
        back = await Channel(token=caller.token).open()
        await back.subscribe(session, fromSeq=0)
        await back.until(lambda frame: frame["payload"].get("seq") == channel.seqs[-1])
        await back.pong()
        assert [one for one in back.frames if one["type"] == "render"] == []
        assert back.data == channel.data
        await back.close()
        await channel.close()


@pytest.fixture
def _nobody_gets_surfaces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Doors remember for each kind of reader what the rules say."""
    gets = views.rules.gets
    wanted_by.cache_clear()
    with monkeypatch.context() as changed:
        changed.setattr(
            views.rules,
            "gets",
            lambda kind, *given, **more: kind.name != "a2ui-surface" and gets(kind, *given, **more),
        )
        yield
    wanted_by.cache_clear()


@pytest.mark.usefixtures("_nobody_gets_surfaces")
async def test_who_is_told_of_no_surfaces_gets_none_with_its_ack() -> None:
    async with live(script()) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        await channel.act(session, "beach:message", {"text": "Hi"})
        await channel.settled()
        await channel.pong()
        back = await Channel(token=caller.token).open()
        assert (await back.subscribe(session))["payload"]["session"]["surfaces"] == []
        assert channel.on(CHANNEL) == [] and [one for one in channel.frames if one["type"] == "render"] == []
        await back.close()
        await channel.close()


async def test_pieces_of_a_lowered_form_are_edited_and_clicked() -> None:
    form = Form([field("name", "Name", required=True)], path("/who"), event("book"))
    made = surface(*Surface("form", form, {"who": {}}).create())
    script = replies([Say([made, text("response", "Here.")])], [Say([text("response", "Booked.")])])
    async with live(script) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session, a2ui=["0.9"], catalogs=[BASIC])
        await channel.act(session, "beach:message", {"text": "Hi"})
        await channel.settled()
        assert "Form" not in str(on_form(channel))
        (root,) = [
            one["id"]
            for one in on_form(channel)[-1]["updateComponents"]["components"]
            if one["component"] == "Column"
        ]
        refused = await channel.act(session, "beach:click", target(f"{root}~:send"))
        assert refused["payload"]["code"] == "INVALID"
        done = await channel.act(session, "beach:edit", {**target(f"{root}~name"), "value": "Ada"})
        assert done["type"] == "ack"
        assert (await channel.act(session, "beach:click", target(f"{root}~:send")))["type"] == "ack"
        await channel.settled()
        clicked = await Event.objects.aget(session=session, kind="action")
        assert clicked.data["action"]["context"] == {"values": {"name": "Ada"}}
        await channel.close()
