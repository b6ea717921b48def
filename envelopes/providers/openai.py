"""OpenAI's chat completions through the ``openai`` SDK, and every server that speaks them: vLLM, Ollama, llama.cpp,
hosted models of other makers.

The runtime's messages have the shape of the Messages API; ``chat_messages`` writes them in that of chat completions.
Text of an assistant is nobody's to read here either: what speaks is the tool respond(), whose arguments come as they
are written.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import httpx2
import openai

from envelopes.conf import conf
from envelopes.errors import ProviderError
from envelopes.providers.chat_reading import ChatReading
from envelopes.providers.clients import Clients
from envelopes.providers.ending import rest
from envelopes.providers.failures import UNREADABLE
from envelopes.providers.openai_errors import as_provider_error
from envelopes.providers.port import ModelEvent, ModelRequest, ReplyEnded
from envelopes.types import JsonObject

TIMEOUT = httpx2.Timeout(600, connect=5, read=120)
"""Seconds. Nobody pings here, and a local model reads a long prompt before its first word."""

_FAILURES = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, *UNREADABLE)
_NO_KEY = "none"
"""Servers of one's own ask for no key, the SDK for some."""

_clients: Clients[openai.AsyncOpenAI] = Clients()


class OpenAIProvider:
    """A provider for one model.

    ``room`` is how many tokens a request may have, its window less the longest reply; 0 for ``BEACH_REQUEST_TOKENS``.
    ``base_url`` "" is OpenAI's own; another one needs no key. ``effort`` ("" for the model's own) is its
    ``reasoning_effort``, ``temperature`` is sent where it is not None. Making one is cheap: connections are shared by
    all providers of an event loop. The SDK retries nothing: the runtime does, and people are told.
    """

    name = "openai"

    def __init__(
        self,
        api_key: str,
        model: str,
        *,
        base_url: str = "",
        max_tokens: int = 16_000,
        effort: str = "",
        temperature: float | None = None,
        timeout: httpx2.Timeout = TIMEOUT,
        label: str = "",
        room: int = 0,
    ) -> None:
        self.model = model
        self.label = label or model
        self.room = room
        self._api_key = api_key
        self._base_url = base_url
        self._max_tokens = max_tokens
        self._effort = effort
        self._temperature = temperature
        self._timeout = timeout

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it is written. Cancelling the task, or closing this generator, closes the connection.

        Raises ``ProviderError`` with ``kind`` (the server's code or ours), ``status`` and ``request_id`` where there
        are any, and the server's own words as ``detail``, which are for the log.
        """
        for missing, setting in (
            (not self.model, "BEACH_OPENAI_MODEL"),
            (not (self._api_key or self._base_url), "OPENAI_API_KEY"),
        ):
            if missing:
                told = "No model is set up here. Whoever runs this site has to check it."
                raise ProviderError(told, retryable=False, kind="not_set_up", setting=setting)
        async with aclosing(self._events(self._body(request))) as events:
            while True:
                # What a consumer throws in at the yield below is not the provider's failure.
                try:
                    event = await anext(events)
                except StopAsyncIteration:
                    return
                except _FAILURES as error:
                    raise as_provider_error(error, self.label) from error
                yield event

    async def aclose(self) -> None:
        """Close the connections of this event loop that this provider would use. It may be used again."""
        await _clients.close(self._identity)

    async def warm(self) -> None:
        """Load what the first request would otherwise wait for."""
        await asyncio.to_thread(_load)
        self._client()

    async def _events(self, body: dict[str, Any]) -> AsyncGenerator[ModelEvent, None]:
        reading = ChatReading(self.label)
        create = self._client().chat.completions.create
        async with await create(**body, timeout=self._timeout) as stream:
            chunks = aiter(stream)
            async for chunk in chunks:
                for told in reading.read(chunk):
                    yield told
                if reading.stop_reason is not None:
                    break
            for chunk in await rest(chunks):
                # What it took comes last.
                for told in reading.read(chunk):
                    yield told
        for told in reading.end():
            yield told
        yield ReplyEnded(reading.stop_reason, reading.usage)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(chat_messages(request.system, request.messages)),
            "stream": True,
            "stream_options": {"include_usage": True},
            # OpenAI's own models know the one name, servers of others the older one.
            "max_tokens" if self._base_url else "max_completion_tokens": self._max_tokens,
        }
        if self._effort:
            body["reasoning_effort"] = self._effort
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
        return body

    @property
    def _identity(self) -> tuple[str, str]:
        return self._base_url, self._api_key

    def _client(self) -> openai.AsyncOpenAI:
        return _clients.get(
            self._identity,
            lambda: openai.AsyncOpenAI(
                api_key=self._api_key or _NO_KEY, base_url=self._base_url or None, max_retries=0
            ),
        )


def from_settings() -> OpenAIProvider:
    """The provider that the settings ask for: ``OPENAI_API_KEY``, ``OPENAI_BASE_URL``, ``BEACH_OPENAI_MODEL``,
    ``BEACH_MAX_TOKENS``, ``BEACH_EFFORT``, ``BEACH_TEMPERATURE``."""
    return OpenAIProvider(
        conf.OPENAI_API_KEY,
        conf.BEACH_OPENAI_MODEL,
        base_url=conf.OPENAI_BASE_URL,
        max_tokens=conf.BEACH_MAX_TOKENS,
        effort=conf.BEACH_EFFORT,
        temperature=conf.BEACH_TEMPERATURE,
    )


def chat_messages(system: str, messages: list[JsonObject]) -> Iterator[JsonObject]:
    """``messages`` as chat completions have them. Each result of a tool is a message of its own; the texts of a message
    are one; thinking goes back to the server that it came from."""
    if system.strip():
        yield {"role": "system", "content": system}
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        words = "\n\n".join(block["text"] for block in blocks if block.get("type") == "text")
        if message["role"] == "assistant":
            yield _assistant(words, blocks)
            continue
        for block in blocks:
            if block.get("type") == "tool_result":
                yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _result(block)}
        if words:
            yield {"role": "user", "content": words}


def _assistant(words: str, blocks: list[JsonObject]) -> JsonObject:
    said: JsonObject = {"role": "assistant"}
    if words:
        said["content"] = words
    for block in blocks:
        # Some servers want it back within a turn; a block says under which name it came.
        if block.get("type") == "thinking" and (name := block.get("field")):
            said[name] = f"{said.get(name, '')}{block['thinking']}"
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {
                "name": block["name"],
                "arguments": json.dumps(block["input"], ensure_ascii=False, separators=(",", ":")),
            },
        }
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    return {**said, "tool_calls": calls} if calls else said


def _result(block: JsonObject) -> str:
    content = block["content"]
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return f'{{"error":{text}}}' if block.get("is_error") else text


def _tool(tool: JsonObject) -> JsonObject:
    described = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
    return {"type": "function", "function": described}


def _load() -> None:
    """The SDK loads its resources, and their types, when they are first asked for."""
    _ = openai.AsyncOpenAI(api_key=_NO_KEY).chat.completions.create
