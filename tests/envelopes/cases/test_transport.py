"""Shared cases of the transport: bad frames, foreign origins, and actions that come twice."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.test import Client

from envelopes.delivery.deltas import deltas
from envelopes.log.doorbell import doorbell
from envelopes.models import Session, Turn
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import Tool
from envelopes.session_state import live_sessions
from envelopes.testing import create_session
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.types import Json
from tests import factories
from tests.desk import replies
from tests.envelopes.cases.world import Mail, buttons, until
from tests.envelopes.transports.closing import close_code
from tests.shared import case, needs_shared
from tests.sockets import Browser, Socket, anonymous, panel

pytestmark = [pytest.mark.django_db(transaction=True), needs_shared]

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"


def surface(name: str, action: str) -> Any:
    """A part with one button that does ``action``."""
    rows = [
        {
            "id": "root",
            "component": "Button",
            "child": "l",
            "action": {"event": {"name": action, "context": {}}},
        },
        {"id": "l", "component": "Text", "text": action},
    ]
    messages = [
        {"version": "v0.9", "createSurface": {"surfaceId": name, "catalogId": BASIC}},
        {"version": "v0.9", "updateComponents": {"surfaceId": name, "components": rows}},
    ]
    return data("a2ui-surface", {"messages": messages})


async def button(session: Session) -> str:
    def find() -> str:
        with live_sessions.present(session, "panel") as view:
            (target,) = buttons(html_of(view))
            return target

    return await sync_to_async(find)()


async def opened(session: Session, browser: Browser) -> tuple[Socket, str]:
    """A socket, on which the agent has shown its surface; and the button on it."""
    socket = await Socket(browser, session.public_id).open()
    await socket.ask({"type": "message", "text": "Show it"})
    await socket.settled()
    return socket, await button(session)


async def actions(session: Session) -> int:
    """How many events of the person's clicks the agent has got."""
    turns = await sync_to_async(lambda: list(Turn.objects.filter(session=session)))()
    return sum(turn.trigger["kind"] == "action" for turn in turns)


async def test_ws_bad_frame_does_not_kill_the_chat(caplog: pytest.LogCaptureFixture) -> None:
    loaded = case("transport/ws-bad-frame-does-not-kill-the-chat.yaml")
    steps, expected = loaded["input"]["steps"], loaded["expected"]
    (raw,) = [step["send_raw"]["frames"] for step in steps if "send_raw" in step]
    (binary,) = [step["send_binary"]["hex"] for step in steps if "send_binary" in step]
    (parts,) = [step["agent_parts"] for step in steps if "agent_parts" in step]
    texts = [f"{parts['run']}:{number}" for number in parts["seq"]]
    gone = asyncio.Event()

    async def wait(context: object, args: Mail) -> Json:
        await gone.wait()
        return {}

    def script(request: ModelRequest) -> Reply:
        conversation = Conversation(request)
        if conversation.action is None:
            return Reply([Say([surface("s1", "ok")])])
        if not any(outcome.tool == "wait" for outcome in conversation.outcomes):
            return Reply([Say([text("ack", "It begins.")], "awaiting"), Call("wait")])
        return Reply(
            [
                *(Say([text("response", one)], "awaiting") for one in texts[:-1]),
                Say([text("response", texts[-1])]),
            ]
        )

    async with panel(script, Tool("wait", "", Mail, wait)) as (session, browser, _):
        c1, target = await opened(session, browser)
        for bad in raw:
            await c1.wire.send_input({"type": "websocket.receive", "text": bad})
            error = await c1.until(lambda frame: True)
            assert (error["type"], error["code"]) == ("error", expected["error_frames"]["class"])
            for leak in expected["error_frames"]["lacks"]:
                assert leak not in json.dumps(error)
        await c1.wire.send_to(bytes_data=bytes.fromhex(binary))
        assert (await c1.until(lambda frame: True))["code"] == expected["error_frames"]["class"]
        # Still open: the action is taken, and a long answer begins.
        assert (await c1.ask({"type": "action", "target": target}))["type"] == "ack"
        await c1.until(lambda frame: "It begins." in str(frame.get("ops")))
        await c1.wire.send_input({"type": "websocket.disconnect", "code": 1006})
        await c1.wire.wait(5)
        assert session.pk not in doorbell.watched()
        assert session.pk not in deltas._subscribers
        gone.set()
        c2 = await Socket(browser, session.public_id).open()
        await c2.until(lambda frame: texts[-1] in str(frame.get("ops")))
        for shown in expected["c2_shows"]:
            assert shown in c2.shown
        assert await actions(session) == expected["effects"]["agent_events"]
        await c2.close()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


class At(Browser):
    """A browser that believes to be at another host."""

    def __init__(self, host: str, cookies: dict[str, str]) -> None:
        super().__init__(cookies)
        self.host = host

    def headers(self, origin: str | None = None) -> list[tuple[bytes, bytes]]:
        found = [(name, value) for name, value in super().headers(origin) if name != b"host"]
        return [(b"host", self.host.encode()), *found]


async def test_ws_origin_and_anonymous_connections(settings: Any) -> None:
    loaded = case("transport/ws-origin-and-anonymous-connections.yaml")
    settings.ALLOWED_HOSTS = loaded["input"]["allowed_hosts"]
    (host,) = settings.ALLOWED_HOSTS
    expected = loaded["expected"]["attempts"]
    user = await sync_to_async(get_user_model().objects.create_user)("ada", password="x")  # type: ignore[attr-defined]
    who = factories.make_principal(user)
    async with panel(replies([Say([surface("s1", "go")])])) as (_, _browser, _who):
        session = await sync_to_async(create_session)(who, "tester")
        for name, attempt in loaded["input"]["attempts"].items():
            client = Client()
            cookies = {}
            if attempt["as"]:
                await sync_to_async(client.force_login)(user)
                cookies = {"sessionid": client.cookies["sessionid"].value}
            socket = Socket(At(host, cookies), session.public_id, origin=attempt["origin"])
            if name == "session_ended":
                await socket.open()
                await socket.ask({"type": "message", "text": "Show it"})
                await socket.settled()
                target = await button(session)
                await sync_to_async(client.logout)()
                # The verdict that the case wants falls at the next handshake: until then nobody knows what cookies the
                # browser has by now (D63).
                assert expected[name]["action"]["error"] == "forbidden"
                await socket.send({"type": "action", "id": "late", "target": target})
                assert await close_code(socket) == 4411
                assert not await _gets_in(
                    Socket(At(host, cookies), session.public_id, origin=attempt["origin"])
                )
                assert await actions(session) == 0
                continue
            assert await _gets_in(socket) is (expected[name] == "accepted"), name


async def _gets_in(socket: Socket) -> bool:
    """Whether the socket is accepted and stays; one that is closed must have been told nothing before."""
    accepted, _ = await socket.wire.connect(timeout=30)
    if not accepted:
        return False
    await socket.send({"type": "ping"})
    message = await socket.wire.receive_output(timeout=30)
    if message["type"] == "websocket.close":
        assert message["code"] == 4401
        return False
    await socket.close()
    return True


async def test_ws_same_action_delivered_twice() -> None:
    loaded = case("transport/ws-same-action-delivered-twice.yaml")
    effects = loaded["expected"]["effects"]

    def script(request: ModelRequest) -> Reply:
        taken = Conversation(request).action is not None
        return Reply([Say([text("response", "Ordered.") if taken else surface("order", "order")])])

    async with panel(script) as (session, browser, _):
        bo, bo_is = anonymous()
        other = await sync_to_async(create_session)(bo_is, "tester")
        open_now: dict[str, Socket] = {}
        answers: list[Any] = []
        target = {"ada": "", "bo": ""}
        tabs = {}
        for step in loaded["input"]["steps"]:
            match step:
                case {"connect": who}:
                    mine, jar = (session, browser) if who["as"] == "ada" else (other, bo)
                    # Everybody's tab has the same name: who sends is part of what is compared.
                    tabs[who["name"]] = (who["as"], who.get("client_instance", "tab-1"))
                    if target[who["as"]]:
                        open_now[who["name"]] = await Socket(jar, mine.public_id).open()
                    else:
                        open_now[who["name"]], target[who["as"]] = await opened(mine, jar)
                case {"send": sent}:
                    who_sends, tab = tabs[sent["on"]]
                    frame = {"type": "action", "target": target[who_sends]}
                    name = f"{tab}-{sent['client_seq']}"
                    answers.append((who_sends, name, await open_now[sent["on"]].ask(frame, message_id=name)))
                case {"disconnect": name}:
                    await open_now.pop(name).close()
        for mine, number in ((session, "agent_events_for_ada"), (other, "agent_events_for_bo")):
            assert await actions(mine) == effects[number]
            await until(lambda mine=mine: _quiet(mine))
        assert all(answer["type"] == "ack" for *_, answer in answers)
        repeats = [answer["seq"] for *whose, answer in answers if whose == list(answers[0][:2])]
        assert len(repeats) == 3
        assert len(set(repeats)) == 1
        for socket in open_now.values():
            await socket.close()


async def _quiet(session: Session) -> bool:
    return not await sync_to_async(Turn.objects.filter(session=session).exclude(status="settled").exists)()
