"""Sockets of the panel for tests: the real ASGI application, the real runner, a scripted actor."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator

from beachsite.asgi import application
from envelopes.access import COOKIE, new_anonymous_owner
from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.models import Session
from envelopes.providers.scripted import ScriptedProvider
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool
from envelopes.runtime.process import shut_down
from envelopes.session_state import live_sessions
from envelopes.testing import create_session, current, idle
from envelopes.types import JsonObject
from tests.at_once import offer
from tests.desk import Script

HOST = "testserver"


class Browser:
    """Somebody with a cookie jar."""

    def __init__(self, cookies: dict[str, str]) -> None:
        self.cookies = cookies

    def headers(self, origin: str | None = f"http://{HOST}") -> list[tuple[bytes, bytes]]:
        jar = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        found = [(b"host", HOST.encode()), (b"cookie", jar.encode())]
        return [*found, (b"origin", origin.encode())] if origin is not None else found


def anonymous() -> tuple[Browser, Any]:
    """A browser with an owner cookie, and its principal."""
    who, cookie = new_anonymous_owner()
    return Browser({COOKIE: cookie}), who


class Socket:
    """One connection; keeps every frame it got."""

    def __init__(self, browser: Browser, session: str, *, query: str = "", **headers: Any) -> None:
        self.wire = WebsocketCommunicator(
            application, f"/ws/chat/{session}/{query}", headers=browser.headers(**headers)
        )
        offer(self.wire)
        self.frames: list[JsonObject] = []
        self._ids = itertools.count(1)
        self._name = f"{id(self):x}"

    async def open(self, after: int = 0) -> Socket:
        accepted, _ = await self.wire.connect(timeout=30)
        assert accepted
        await self.send({"type": "hello", "after": after})
        await self.until(lambda frame: frame.get("type") == "welcome")
        return self

    async def send(self, frame: JsonObject) -> None:
        await self.wire.send_to(text_data=json.dumps(frame))

    async def ask(self, frame: JsonObject, *, message_id: str | None = None) -> JsonObject:
        """Send a frame with an id; the ack or error that answers it."""
        name = message_id or f"{self._name}-{next(self._ids)}"
        await self.send({**frame, "id": name})
        return await self.until(lambda got: got.get("id") == name)

    async def until(self, wanted: Any, *, seconds: float = 30) -> JsonObject:
        """The next frame for which ``wanted`` holds."""
        while True:
            frame: JsonObject = json.loads(await self.wire.receive_from(timeout=seconds))
            self.frames.append(frame)
            if wanted(frame):
                return frame

    async def settled(self) -> JsonObject:
        """Until what has begun is over."""
        await self.until(lambda frame: frame.get("busy") is True and "ops" in frame)
        return await self.until(lambda frame: frame.get("busy") is False and "ops" in frame)

    async def caught_up(self) -> None:
        """Until whatever it has been told to look for has been looked for, and sent."""
        # Behind what waits for the database; a ping alone does not go there.
        for session in range(conf.BEACH_DATABASE_THREADS):
            await in_session(session, bool)
        await self.send({"type": "ping"})
        await self.until(lambda frame: frame.get("type") == "pong")

    @property
    def shown(self) -> str:
        """All markup that was sent."""
        return json.dumps([frame.get("ops") for frame in self.frames if "ops" in frame], ensure_ascii=False)

    @property
    def seq(self) -> int:
        return max((frame["seq"] for frame in self.frames if "ops" in frame), default=0)

    async def close(self) -> None:
        await self.wire.disconnect(timeout=30)


@asynccontextmanager
async def panel(
    script: Script, *tools: Tool, name: str = "tester", pace: float = 0
) -> AsyncIterator[tuple[Session, Browser, Any]]:
    """A session of an anonymous browser with a scripted actor, behind the real application."""
    actor = Actor(
        name=name,
        display_name=name.title(),
        role="tests",
        instructions="You are a test.",
        provider=lambda: ScriptedProvider(script, pace=pace),
        tools=tools,
    )
    browser, who = anonymous()
    with actors.including(actor):
        live_sessions.clear()
        session = await sync_to_async(create_session)(who, name)
        try:
            yield session, browser, who
        finally:
            process = current()
            if process is not None and process.runner is not None:
                await idle(process.runner)
            await shut_down()
            live_sessions.clear()
