"""A peer at our doors, with its token, beside a conversation that it owns."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.test import AsyncClient

from envelopes import peers
from envelopes.models import Peer, Session
from envelopes.registries.tools import Tool
from tests.desk import Desk, Script, desk


@dataclass
class Program:
    """Sends its token with everything."""

    peer: Peer
    token: str

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """``headers`` with underscores for hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent.setdefault("Authorization", f"Bearer {self.token}")
        call = getattr(AsyncClient(), method)
        if body is None:
            return await call(path, headers=sent)
        text = body if isinstance(body, str) else json.dumps(body)
        return await call(path, text, content_type="application/json", headers=sent)

    async def say(self, session: Session, body: object, **headers: str) -> Any:
        return await self.ask("post", f"/api/sessions/{session.public_id}/messages", body, **headers)


async def program(name: str = "desk", scopes: str = "chat read", **more: Any) -> Program:
    return Program(*await sync_to_async(peers.add)(name, scopes.split(), **more))


@asynccontextmanager
async def at_door(script: Script, *tools: Tool, **more: Any) -> AsyncIterator[tuple[Program, Desk]]:
    """A program, and a conversation of its own with an actor that follows ``script``."""
    caller = await program(**more)
    async with desk(script, *tools, owner=peers.principal_of_peer(caller.peer)) as d:
        yield caller, d
