"""A client of the live channel, at the real ASGI application, with a real runner and a scripted actor."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator

from beachsite.asgi import application
from envelopes import peers
from envelopes.access import Principal
from envelopes.database_threads import in_session
from envelopes.models import Session
from envelopes.providers.scripted import ScriptedProvider
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool
from envelopes.runtime.process import shut_down
from envelopes.session_state import live_sessions
from envelopes.testing import create_session, current, idle
from envelopes.types import Json, JsonObject
from tests.at_once import offer
from tests.desk import Script
from tests.envelopes.transports.program import Program, program
from tests.sockets import HOST, Browser

SECONDS = 30


class Channel:
    """One connection; keeps every frame that it got."""

    def __init__(
        self,
        *,
        token: str = "",
        browser: Browser | None = None,
        query: str = "",
        origin: str | None = None,
        keeps_up: Callable[[], bool] = lambda: True,
    ) -> None:
        """``keeps_up``: whether its reader is not behind now."""
        headers = [(b"host", HOST.encode())]
        if token:
            headers.append((b"authorization", f"Bearer {token}".encode()))
        if browser is not None:
            headers = browser.headers()
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        self.wire = WebsocketCommunicator(application, f"/ws/live/{query}", headers=headers)
        offer(self.wire, keeps_up)
        self.frames: list[JsonObject] = []
        self._ids = itertools.count(1)

    async def open(self) -> Channel:
        accepted, _ = await self.wire.connect(timeout=SECONDS)
        assert accepted
        return self

    async def send(self, kind: str, payload: Json = None, request: str | None = None) -> None:
        frame = {"type": kind, "payload": payload} | ({"requestId": request} if request else {})
        await self.raw(json.dumps(frame))

    async def raw(self, text: str) -> None:
        await self.wire.send_to(text_data=text)

    async def ask(self, kind: str, payload: Json = None) -> JsonObject:
        """Send a frame; the one that answers it."""
        request = f"r{next(self._ids)}"
        await self.send(kind, payload, request)
        return await self.until(lambda frame: frame.get("requestId") == request)

    async def subscribe(self, session: Session, **more: Json) -> JsonObject:
        return await self.ask("subscribe", {"sessionId": session.public_id, **more})

    async def act(self, session: Session, action: str, data: Json = None, **more: Json) -> JsonObject:
        value: JsonObject = {"action": action} | ({} if data is None else {"data": data})
        envelope = {"sessionId": session.public_id, "type": "data:submit", "payload": value, **more}
        return await self.ask("action", envelope)

    async def next(self) -> JsonObject:
        message = await self.wire.receive_output(timeout=SECONDS)
        assert message["type"] == "websocket.send", message
        frame: JsonObject = json.loads(message["text"])
        self.frames.append(frame)
        return frame

    async def until(self, wanted: Callable[[JsonObject], object]) -> JsonObject:
        while True:
            frame = await self.next()
            if wanted(frame):
                return frame

    async def closed(self) -> int:
        """The code with which the server closes it."""
        while True:
            message = await self.wire.receive_output(timeout=SECONDS)
            if message["type"] == "websocket.close":
                return int(message["code"])
            self.frames.append(json.loads(message["text"]))

    async def settled(self) -> JsonObject:
        """Until a turn has settled."""
        return await self.until(
            lambda frame: (
                frame["type"] == "data" and frame["payload"]["payload"].get("event") == "settled"
                if isinstance(frame["payload"].get("payload"), dict)
                else False
            )
        )

    async def pong(self) -> None:
        """Until what came before has been answered."""
        await self.ask("ping", {})

    @property
    def data(self) -> list[JsonObject]:
        """The envelopes that came, those without a number left out."""
        return [
            frame["payload"] for frame in self.frames if frame["type"] == "data" and "seq" in frame["payload"]
        ]

    @property
    def seqs(self) -> list[int]:
        return [envelope["seq"] for envelope in self.data]

    def on(self, channel: str) -> list[JsonObject]:
        return [envelope for envelope in self.data if envelope["channel"] == channel]

    async def close(self) -> None:
        await self.wire.disconnect(timeout=SECONDS)


def silent(request: Any) -> Any:
    raise AssertionError("nobody is to answer here")


@asynccontextmanager
async def live(
    script: Script = silent,
    *tools: Tool,
    name: str = "tester",
    pace: float = 0,
    scopes: str = "chat read live",
    contract: Mapping[str, Json] | None = None,
    owner: Principal | None = None,
    rate: int = 120,
) -> AsyncIterator[tuple[Session, Program]]:
    """A session of a peer that may use the live channel."""
    caller = await program(scopes=scopes, rate=rate)
    actor = Actor(
        name=name,
        display_name=name.title(),
        role="tests",
        instructions="You are a test.",
        provider=lambda: ScriptedProvider(script, pace=pace),
        tools=tools,
        contract=contract,
    )
    with actors.including(actor):
        live_sessions.clear()
        session = await sync_to_async(create_session)(owner or peers.principal_of_peer(caller.peer), name)
        try:
            yield session, caller
        finally:
            process = current()
            if process is not None and process.runner is not None:
                await idle(process.runner)
            await shut_down()
            live_sessions.clear()


async def reading(session: Session, work: Callable[[], Any]) -> Any:
    """``work`` with the database."""
    return await in_session(session.pk, work)
