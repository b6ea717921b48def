"""Claude through the ``anthropic`` SDK (2.14): raw stream events, tool input as it is written.

``messages.create(stream=True)`` and not ``messages.stream()``: the latter parses the input of a tool call for us,
leaves out the string that is being written, and kills the stream when a call is not JSON.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import anthropic
from pydantic import BaseModel

from envelopes.conf import conf
from envelopes.errors import ProviderError
from envelopes.protocol.respond import RESPOND
from envelopes.protocol.strict_json import join_surrogates
from envelopes.providers.anthropic_errors import as_provider_error
from envelopes.providers.clients import Clients
from envelopes.providers.ending import rest
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
    TextFragment,
    UsageTold,
)
from envelopes.providers.sdk import NO_KEY, SdkProvider, from_conf
from envelopes.providers.transcript import lasting_end
from envelopes.types import JsonObject

COUNT_SECONDS = 10.0
"""How long the API may take to count the tokens of a request."""

_Kind = Literal["text", "tool_use", "thinking"]
_KINDS: dict[str, _Kind] = {
    "text": "text",
    "tool_use": "tool_use",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
}
_CACHED: JsonObject = {"type": "ephemeral"}


class AnthropicProvider(SdkProvider[anthropic.AsyncAnthropic]):
    """A provider for one model of Anthropic (``SdkProvider``).

    ``base_url`` "" is the SDK's own (``ANTHROPIC_BASE_URL`` or the public API). ``effort`` is one of low, medium, high,
    xhigh and max; newer models refuse ``temperature``.
    """

    name = "anthropic"
    clients: ClassVar[Clients[anthropic.AsyncAnthropic]] = Clients()
    sdk_error = anthropic.AnthropicError
    # The API pings a stream that is quiet, so a minute without a byte means that it is dead.
    timeout = anthropic.Timeout(600, connect=5, read=60)

    def check_set_up(self) -> None:
        if not self._api_key:
            raise ProviderError(
                "No key for the Claude API is set up here.",
                retryable=False,
                kind="no_key",
                setting="ANTHROPIC_API_KEY",
            )

    def make_client(self) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(api_key=self._api_key, base_url=self._base_url or None, max_retries=0)

    def load(self) -> None:
        _ = anthropic.AsyncAnthropic(api_key=NO_KEY).messages.create

    def as_provider_error(self, error: Exception) -> ProviderError:
        return as_provider_error(error)

    def _called(self, model: str) -> str:
        """``claude-sonnet-5-5`` as people write it: Claude Sonnet 5.5. A date at the end is left out."""
        words = [word for word in model.split("-") if not (word.isdigit() and len(word) > 4)]
        names = [word.capitalize() for word in words if not word.isdigit()]
        return " ".join([*names, ".".join(word for word in words if word.isdigit())]).strip()

    async def count(self, request: ModelRequest) -> int:
        """How many tokens ``request`` has, as the API counts them; it costs nothing. Raises ``ProviderError``."""
        body = self.body(request)
        asked = {name: body[name] for name in ("model", "messages", "system", "tools") if name in body}
        try:
            with self.holding():
                counted = await self.client().messages.count_tokens(**asked, timeout=COUNT_SECONDS)
        except self._failures as error:
            raise self.told(error) from error
        return counted.input_tokens

    async def events(self, body: dict[str, Any]) -> AsyncGenerator[ModelEvent, None]:
        reading = _Reading()
        create = self.client().messages.create
        async with await create(**body, stream=True, timeout=self._timeout) as stream:
            events = aiter(stream)
            while not reading.complete and (event := await anext(events, None)) is not None:
                for told in reading.read(event):
                    yield told
            await rest(events)
        yield ReplyEnded(reading.stop_reason if reading.complete else None, reading.usage)

    def body(self, request: ModelRequest) -> dict[str, Any]:
        tools = [
            {**tool, "eager_input_streaming": True} if tool["name"] == RESPOND else tool
            for tool in request.tools
        ]
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self._max_tokens,
            "messages": _marked(request.messages),
            # Within a turn the history only grows: this mark moves along with its end.
            "cache_control": _CACHED,
        }
        if self._effort:
            body["output_config"] = {"effort": self._effort}
        if self._temperature is not None:
            # The SDK has no name for it any more.
            body["extra_body"] = {"temperature": self._temperature}
        if request.system.strip():
            body["system"] = [{"type": "text", "text": request.system, "cache_control": _CACHED}]
        if tools:
            # Newer models refuse forced tool use; that only respond() speaks is said in the system prompt.
            body |= {"tools": tools, "tool_choice": {"type": "auto"}}
        return body


def from_settings() -> AnthropicProvider:
    """The provider that the settings ask for: ``ANTHROPIC_API_KEY``, ``ANTHROPIC_BASE_URL``, ``BEACH_MODEL``,
    ``BEACH_MAX_TOKENS``, ``BEACH_EFFORT``, ``BEACH_TEMPERATURE``."""
    return AnthropicProvider(
        conf.ANTHROPIC_API_KEY,
        conf.BEACH_MODEL,
        base_url=conf.ANTHROPIC_BASE_URL,
        **from_conf(),
    )


def translator_from_settings() -> AnthropicProvider:
    """The fast second model for ``llm-context`` (``Actor.translator``): ``BEACH_CONTEXT_MODEL`` with the same key."""
    return AnthropicProvider(
        conf.ANTHROPIC_API_KEY,
        conf.BEACH_CONTEXT_MODEL,
        base_url=conf.ANTHROPIC_BASE_URL,
        max_tokens=1_024,
    )


@dataclass
class _Open:
    """A block that is being written."""

    kind: _Kind
    content: JsonObject
    pieces: list[str] = field(default_factory=list)


class _Reading:
    """Turns the events of one reply into the port's. ``complete``: the API said that it was at the end."""

    def __init__(self) -> None:
        self.stop_reason: str | None = None
        self.usage: JsonObject = {}
        self.complete = False
        self._open: dict[int, _Open] = {}
        # The end of a call without a character of input, until it is known that it was not cut there.
        self._empty: list[ModelEvent] = []

    def read(self, event: anthropic.types.RawMessageStreamEvent) -> list[ModelEvent]:
        """Events and blocks of kinds that this does not know are passed over, as the API's documents ask."""
        match event.type:
            case "message_start":
                self._count(event.message.usage)
                return [UsageTold(dict(self.usage))] if self.usage else []
            case "content_block_start":
                content = event.content_block.model_dump(mode="json", exclude_unset=True, warnings=False)
                return [*self._let_go(), *self._started(event.index, content)]
            case "content_block_delta":
                return self._grew(event.index, event.delta)
            case "content_block_stop":
                return self._ended(event.index)
            case "message_delta":
                self.stop_reason = event.delta.stop_reason
                self._count(event.usage)
                if self.stop_reason == "tool_use":
                    return self._let_go()
            case "message_stop":
                self.complete = True
        return []

    def _let_go(self) -> list[ModelEvent]:
        held, self._empty = self._empty, []
        return held

    def _count(self, usage: anthropic.types.Usage | anthropic.types.MessageDeltaUsage | None) -> None:
        if not isinstance(usage, BaseModel):
            # Some that stand in for the API count nothing.
            return
        counts = usage.model_dump(mode="json", exclude_none=True, warnings=False)
        self.usage |= {name: count for name, count in counts.items() if isinstance(count, int)}

    def _started(self, index: int, content: JsonObject) -> list[ModelEvent]:
        kind = _KINDS.get(content.get("type", ""))
        if kind is None:
            return []
        self._open[index] = _Open(kind, content)
        if kind == "tool_use":
            return [BlockStarted(index, kind, id=content["id"], name=content["name"])]
        return [BlockStarted(index, kind)]

    def _grew(self, index: int, delta: anthropic.types.RawContentBlockDelta) -> list[ModelEvent]:
        block = self._open.get(index)
        if block is None:
            return []
        match delta.type:
            case "input_json_delta":
                if not isinstance(delta.partial_json, str):
                    raise TypeError("a piece of input that is no text")
                block.pieces.append(delta.partial_json)
                # The first piece is always empty.
                return [InputFragment(index, delta.partial_json)] if delta.partial_json else []
            case "text_delta":
                return self._text_grew(index, block, delta.text)
            case "thinking_delta":
                return self._text_grew(index, block, delta.thinking)
            case "signature_delta":
                block.content["signature"] = delta.signature
        return []

    def _text_grew(self, index: int, block: _Open, piece: str) -> list[ModelEvent]:
        block.pieces.append(piece)
        return [TextFragment(index, piece)] if piece else []

    def _ended(self, index: int) -> list[ModelEvent]:
        block = self._open.pop(index, None)
        if block is None:
            return []
        written = join_surrogates("".join(block.pieces))
        if block.kind == "tool_use":
            if written:
                return [BlockEnded(index, block.kind, raw_input=written)]
            # A call without arguments, or one that ended before it began: only the stop reason tells.
            raw = json.dumps(block.content.get("input") or {})
            self._empty = [BlockEnded(index, block.kind, raw_input=raw)]
            return []
        if block.kind == "text":
            text = block.content.get("text", "") + written
            return [BlockEnded(index, block.kind, content={"type": "text", "text": text})]
        if block.content["type"] == "thinking":
            if not block.content.get("signature"):
                # Cut before its end; it would be refused if it were sent back.
                return []
            block.content["thinking"] = block.content.get("thinking", "") + written
        return [BlockEnded(index, block.kind, content=block.content)]


def _marked(messages: list[JsonObject]) -> list[JsonObject]:
    """``messages`` with a mark where later turns still read the same: what is behind it, at the end of this request,
    none of them finds in the cache."""
    found = lasting_end(messages)
    if found is None:
        return messages
    place, at = found
    message = messages[place]
    blocks = [
        {**block, "cache_control": _CACHED} if n == at else block
        for n, block in enumerate(message["content"])
    ]
    return [*messages[:place], {**message, "content": blocks}, *messages[place + 1 :]]
