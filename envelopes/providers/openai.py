"""OpenAI's chat completions through the ``openai`` SDK, and every server that speaks them: vLLM, Ollama, llama.cpp,
hosted models of other makers.

The runtime's messages have the shape of the Messages API; ``chat_messages`` writes them in that of chat completions.
Text of an assistant is nobody's to read here either: what speaks is the tool respond(), whose arguments come as they
are written.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any, ClassVar

import httpx2
import openai

from envelopes.conf import conf
from envelopes.errors import ProviderError
from envelopes.providers.chat_reading import ChatReading
from envelopes.providers.clients import Clients
from envelopes.providers.ending import rest
from envelopes.providers.openai_errors import as_provider_error
from envelopes.providers.port import ModelEvent, ModelRequest, ReplyEnded
from envelopes.providers.sdk import NO_KEY, SdkProvider, from_conf
from envelopes.types import JsonObject

ADDRESS = "https://api.openai.com/v1"
"""Of OpenAI. Without one the SDK takes that of the environment, and a key would go to whoever is named there."""


class OpenAIProvider(SdkProvider[openai.AsyncOpenAI]):
    """A provider for one model that speaks chat completions (``SdkProvider``).

    ``base_url`` "" is OpenAI's own; another one needs no key. ``effort`` is its ``reasoning_effort``.
    """

    name = "openai"
    clients: ClassVar[Clients[openai.AsyncOpenAI]] = Clients()
    sdk_error = openai.OpenAIError
    # Nobody pings here, and a local model reads a long prompt before its first word.
    timeout = httpx2.Timeout(600, connect=5, read=120)

    def check_set_up(self) -> None:
        for missing, setting in (
            (not self.model, "BEACH_OPENAI_MODEL"),
            (not (self._api_key or self._base_url), "OPENAI_API_KEY"),
        ):
            if missing:
                told = "No model is set up here. Whoever runs this site has to check it."
                raise ProviderError(told, retryable=False, kind="not_set_up", setting=setting)

    def make_client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=self._api_key or NO_KEY, base_url=self._base_url or ADDRESS, max_retries=0
        )

    def load(self) -> None:
        _ = openai.AsyncOpenAI(api_key=NO_KEY).chat.completions.create

    def as_provider_error(self, error: Exception) -> ProviderError:
        return as_provider_error(error, self.label)

    async def events(self, body: dict[str, Any]) -> AsyncGenerator[ModelEvent, None]:
        reading = ChatReading(self.label)
        create = self.client().chat.completions.create
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

    def body(self, request: ModelRequest) -> dict[str, Any]:
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


def from_settings() -> OpenAIProvider:
    """The provider that the settings ask for: ``OPENAI_API_KEY``, ``OPENAI_BASE_URL``, ``BEACH_OPENAI_MODEL``,
    ``BEACH_MAX_TOKENS``, ``BEACH_EFFORT``, ``BEACH_TEMPERATURE``."""
    return OpenAIProvider(
        conf.OPENAI_API_KEY,
        conf.BEACH_OPENAI_MODEL,
        base_url=conf.OPENAI_BASE_URL,
        **from_conf(),
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
