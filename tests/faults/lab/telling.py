"""A job that goes on saying things and keeps a list of what it was told is stored."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from django.db import Error
from pydantic import BaseModel

from envelopes.errors import BeachError, LeaseLost, RespondRefused
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json, JsonObject
from tests.faults.lab.gates import Gates

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
TOLD, UNKNOWN = "told", "unknown"
"""Of what is noted so, all is stored; what is noted so may be stored, once."""


class Tell(BaseModel):
    """So many words, so many of them a second."""

    times: int
    hz: float


def teller(gates: Gates) -> Tool:
    return Tool("tell", "Says words.", Tell, _telling(gates), background=True)


def _telling(gates: Gates) -> Callable[[ToolContext, Any], Awaitable[Json]]:
    async def tell(context: ToolContext, args: Tell) -> Json:
        surface, run = f"told-{context.call_id}", uuid.uuid4().hex[:8]
        await _insist(context, _part(*_created(surface)))
        for number in range(args.times):
            word = f"{run}-{number}"
            value = {"surfaceId": surface, "path": "/value", "value": word}
            try:
                await context.emit(_part({"version": "v0.9", "updateDataModel": value}))
            except LeaseLost:
                raise
            except (Error, BeachError) as error:
                gates.note(UNKNOWN, f"{context.session_id} {word} {error!r}")
            else:
                gates.note(TOLD, f"{context.session_id} {word}")
            await asyncio.sleep(1 / args.hz)
        return {"told": args.times}

    return tell


async def _insist(context: ToolContext, part: JsonObject) -> None:
    """Until the surface is there: after a crash, or an error whose commit came through, it is."""
    while True:
        try:
            return await context.emit(part)
        except RespondRefused:
            return None
        except Error:
            await asyncio.sleep(0.1)


def _created(surface: str) -> list[JsonObject]:
    components = [{"id": "root", "component": "Text", "text": {"path": "/value"}}]
    return [
        {"version": "v0.9", "createSurface": {"surfaceId": surface, "catalogId": BASIC}},
        {"version": "v0.9", "updateComponents": {"surfaceId": surface, "components": components}},
    ]


def _part(*messages: JsonObject) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": list(messages)}}
