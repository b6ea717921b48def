"""Reading the chunks of a chat completion as the port's events.

A call is over when its JSON is, and something else has begun; else when the reply is. So calls are told of as they
come, in whichever order their pieces do. Servers that number none of them begin each with its id; of those that give
neither, or one number to all, each call comes in one piece or after the one before, and begins with its name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from envelopes.errors import ProviderError
from envelopes.protocol.strict_json import join_surrogates
from envelopes.providers.failures import BROKEN, failed
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    TextFragment,
    UsageTold,
)
from envelopes.types import JsonObject

_ENDINGS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
"""Their reasons in the words of the Messages API, which are the port's."""

AT_ONCE = 128
"""Blocks that are written at once: each that begins is held against all of them."""

_REASONING = ("reasoning_content", "reasoning")
"""Under which names servers send what a model thinks."""


class Chunk(Protocol):
    """As much of ``ChatCompletionChunk`` as is read here."""

    choices: Any
    usage: Any


@dataclass
class _Open:
    """A block that is being written."""

    index: int
    kind: Literal["text", "tool_use", "thinking"]
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def written(self) -> str:
        self.pieces = ["".join(self.pieces)]
        return self.pieces[0]


class ChatReading:
    """One reply. ``who`` is what people call the model. ``stop_reason`` is None until the server has given one."""

    def __init__(self, who: str) -> None:
        self._who = who
        self.stop_reason: str | None = None
        self.usage: JsonObject = {}
        self._open: dict[object, _Open] = {}
        # Calls that are over, with their names.
        self._ended: dict[object, str] = {}
        self._count = 0
        # The last call that has begun, for pieces that do not say which they belong to.
        self._last: object = None
        self._refused = False

    def read(self, chunk: Chunk) -> Iterator[ModelEvent]:
        """What one chunk tells. Fields that this does not know are passed over."""
        if isinstance(chunk.usage, BaseModel):
            self.usage = _usage(chunk.usage)
            if self.stop_reason is None:
                # Some servers count along.
                yield UsageTold(self.usage)
        # Only one answer was asked for.
        for choice in (chunk.choices or [])[:1]:
            delta = choice.delta
            if delta is not None:
                yield from self._grew(delta)
            if isinstance(choice.finish_reason, str) and choice.finish_reason:
                self.stop_reason = _ENDINGS.get(choice.finish_reason, choice.finish_reason)
                if self._refused:
                    self.stop_reason = "refusal"

    def end(self) -> Iterator[ModelEvent]:
        """The stream is over: end what was not ended yet. Nothing of what broke off."""
        if self.stop_reason is None:
            return
        for key in list(self._open):
            yield from self._end(key)
        if self._ended and self.stop_reason == "end_turn":
            # Some say so after calls as well.
            self.stop_reason = "tool_use"

    def _grew(self, delta: Any) -> Iterator[ModelEvent]:
        for name in _REASONING:
            if text := getattr(delta, name, None):
                yield from self._text("thinking", text, name)
                break
        if text := delta.content:
            yield from self._text("text", text)
        if text := getattr(delta, "refusal", None):
            self._refused = True
            yield from self._text("text", text)
        for call in delta.tool_calls or []:
            yield from self._call(call)

    def _text(self, kind: Literal["text", "thinking"], text: str, name: str = "") -> Iterator[ModelEvent]:
        block = self._open.get(kind)
        if block is None:
            yield from self._end_whole()
            block = self._begin(kind, _Open(self._count, kind, name=name))
            yield BlockStarted(block.index, kind)
        if not isinstance(text, str):
            raise self._malformed(f"a text that is {type(text).__name__}")
        block.pieces.append(text)
        yield TextFragment(block.index, text)

    def _call(self, call: Any) -> Iterator[ModelEvent]:
        function = call.function
        fragment = (function.arguments if function is not None else None) or ""
        if not isinstance(fragment, str):
            # Some servers send them whole, and not as text.
            fragment = json.dumps(fragment)
        key = self._key(call, fragment)
        block = self._open.get(key)
        if block is None:
            if key in self._ended and not fragment.strip():
                return
            if key in self._ended or function is None or not function.name:
                raise self._malformed("a piece of a call that has not begun, or is over")
            yield from self._end_whole()
            call_id = call.id or f"call_{self._count}"
            block = self._begin(key, _Open(self._count, "tool_use", id=call_id, name=function.name))
            yield BlockStarted(block.index, "tool_use", id=call_id, name=function.name)
        self._last = key
        if fragment:
            block.pieces.append(fragment)
            yield InputFragment(block.index, fragment)

    def _key(self, call: Any, fragment: str) -> object:
        """Which call a piece belongs to. An id under a number that has another one begins the next call."""
        name = call.function.name if call.function is not None else None
        number = getattr(call, "index", None)
        if number is None:
            if call.id:
                return ("id", call.id)
            return ("next", self._count) if self._is_next(self._last, name, fragment) else self._last
        key = ("call", number)
        known = self._open.get(key)
        if call.id and name and (key in self._ended or (known is not None and known.id != call.id)):
            return (*key, call.id)
        same = self._last if isinstance(self._last, tuple) and self._last[:2] == key else key
        is_next = not call.id and self._is_next(same, name, fragment)
        return (*key, self._count) if is_next else same

    def _is_next(self, key: object, name: str | None, fragment: str) -> bool:
        """Whether a piece that has no id begins a call although another one has its place: that one is whole. Some
        servers repeat the name in each piece, the last of which may be empty."""
        known = self._open.get(key)
        if not name or (known is None and key not in self._ended):
            return False
        before = self._ended[key] if known is None else known.name
        if name == before and not fragment.strip():
            return False
        return known is None or _is_whole(known.written)

    def _begin(self, key: object, block: _Open) -> _Open:
        self._open[key] = block
        if len(self._open) > AT_ONCE:
            raise self._malformed(f"more than {AT_ONCE} calls that are not over")
        self._count += 1
        return block

    def _end_whole(self) -> Iterator[ModelEvent]:
        """Something else begins: calls whose JSON is complete are over, and so is text."""
        for key, block in list(self._open.items()):
            if block.kind != "tool_use" or _is_whole(block.written):
                yield from self._end(key)

    def _end(self, key: object) -> Iterator[ModelEvent]:
        block = self._open.pop(key)
        written = join_surrogates(block.written)
        if block.kind == "text":
            yield BlockEnded(block.index, "text", content={"type": "text", "text": written})
            return
        if block.kind == "thinking":
            content = {"type": "thinking", "thinking": written, "field": block.name}
            yield BlockEnded(block.index, "thinking", content=content)
            return
        if not written.strip() and self.stop_reason == "max_tokens":
            # It was cut before its first character: it must not run with default arguments.
            return
        self._ended[key] = block.name
        yield BlockEnded(block.index, "tool_use", raw_input=written if written.strip() else "{}")

    def _malformed(self, what: str) -> ProviderError:
        return failed(BROKEN, self._who, kind="malformed", detail=f"The stream has {what}.")


def _is_whole(written: str) -> bool:
    if not written.rstrip().endswith("}"):
        return False
    try:
        json.loads(written)
    except (ValueError, RecursionError):
        return False
    return True


def _usage(usage: Any) -> JsonObject:
    """In the words of the Messages API: what was read from a cache is no part of ``input_tokens``."""
    cached = _number(getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None))
    counts = {
        "input_tokens": max(0, _number(getattr(usage, "prompt_tokens", None)) - cached),
        "cache_read_input_tokens": cached,
        "output_tokens": _number(getattr(usage, "completion_tokens", None)),
    }
    return {name: count for name, count in counts.items() if count or name != "cache_read_input_tokens"}


def _number(count: object) -> int:
    return count if isinstance(count, int) and count > 0 else 0
