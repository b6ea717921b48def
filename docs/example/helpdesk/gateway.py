"""A provider of its own: a gateway in the house that takes a request of the Messages API and gives a whole reply.

It does not stream, so this turns its blocks into the events of one. Everything else, parser, retries, log and pages, is
as with any other model.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import httpx

from envelopes import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    JsonObject,
    ModelEvent,
    ModelRequest,
    ProviderError,
    ReplyEnded,
)

SECONDS = 120
PASSES = frozenset({408, 429, 500, 502, 503, 504, 529})
"""Statuses after which asking again may help."""


class Gateway:
    """``transport`` is for tests."""

    name = "gateway"
    label = "The model of the house"

    def __init__(self, url: str, model: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.url = url
        self.model = model
        self._transport = transport

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        reply = await self._ask(request)
        for index, block in enumerate(reply["content"]):
            if block["type"] == "tool_use":
                written = json.dumps(block["input"])
                yield BlockStarted(index, "tool_use", id=block["id"], name=block["name"])
                yield InputFragment(index, written)
                yield BlockEnded(index, "tool_use", raw_input=written)
            elif block["type"] == "text":
                yield BlockStarted(index, "text")
                yield BlockEnded(index, "text", content=block)
        yield ReplyEnded(reply["stop_reason"], reply.get("usage", {}))

    async def _ask(self, request: ModelRequest) -> JsonObject:
        body = {
            "model": self.model,
            "max_tokens": 8_000,
            "system": request.system,
            "messages": request.messages,
            "tools": request.tools,
        }
        try:
            async with httpx.AsyncClient(timeout=SECONDS, transport=self._transport) as client:
                answer = await client.post(self.url, json=body)
        except httpx.TransportError as error:
            raise ProviderError("The model cannot be reached.", retryable=True, detail=str(error)) from error
        if answer.is_error:
            raise ProviderError(
                "The model does not answer.",
                retryable=answer.status_code in PASSES,
                status=answer.status_code,
            )
        try:
            found: JsonObject = {"content": [], "stop_reason": None, **answer.json()}
        except (ValueError, TypeError) as error:
            raise ProviderError("The model's answer cannot be read.", retryable=True) from error
        return found
