"""What the fake Messages API can be told to answer, and how that looks as server-sent events."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tests.fakes.messages_rules import signature

Json = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """A tool call; ``raw`` is its input as text, JSON or not."""

    name: str
    raw: str


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Thinking:
    text: str


@dataclass(frozen=True)
class Redacted:
    data: str = "opaque"


Block = Tool | Text | Thinking | Redacted


@dataclass(frozen=True)
class Reply:
    """A streamed reply. ``fail`` strikes in the middle of the last block (``when`` 0.0-1.0 of its text).

    ``error``: an error event; ``silent``: the stream ends properly, without a last word; ``drop``: the connection
    breaks; ``stall``: nothing comes any more; ``max_tokens``: cut, then ended as the API does; ``garbage``: an event
    that is no JSON. ``pace``: seconds before each fragment.
    """

    blocks: tuple[Block, ...]
    stop_reason: str = ""
    fail: Literal["", "error", "silent", "drop", "stall", "max_tokens", "garbage"] = ""
    when: float = 0.5
    error_type: str = "overloaded_error"
    fragment: int = 7
    pace: float = 0.0
    pings: bool = True


@dataclass(frozen=True)
class Refusal:
    """An answer before any stream: status and error type as documented (529 is ``overloaded_error``)."""

    status: int
    kind: str
    message: str = "refused"
    headers: tuple[tuple[str, str], ...] = ()


def respond(*parts: Json, state: str = "complete") -> Tool:
    """A respond() call."""
    return Tool("respond", json.dumps({"parts": parts, "turnState": state}, ensure_ascii=False))


def call(name: str, **arguments: Any) -> Tool:
    return Tool(name, json.dumps(arguments, ensure_ascii=False))


def said(words: str, part_type: str = "response") -> Json:
    return {"metadata": {"partType": part_type}, "text": words}


def overloaded() -> Refusal:
    return Refusal(529, "overloaded_error", "Overloaded", (("retry-after", "0"),))


class Counter(Protocol):
    fragments: int


async def written(body: Any, reply: Reply, counter: Counter) -> AsyncIterator[str | None]:
    """The reply as server-sent events; None breaks the connection. Fragments are counted as they are sent."""
    usage = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 1}
    message: Json = {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
    }
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _event("message_start", message=message)
    if reply.pings:
        yield _event("ping")
    for index, block in enumerate(reply.blocks):
        failing = bool(reply.fail) and index == len(reply.blocks) - 1
        pieces = list(_pieces(block, reply.fragment))
        if failing:
            pieces = pieces[: int(len(pieces) * reply.when)]
        yield _event(
            "content_block_start", index=index, content_block=_start(block, f"toolu_{secrets.token_hex(12)}")
        )
        for piece in pieces:
            await asyncio.sleep(reply.pace)
            counter.fragments += 1
            yield _event("content_block_delta", index=index, delta=_delta(block, piece))
        if failing and reply.fail != "max_tokens":
            async for event in _failure(reply):
                yield event
            return
        if isinstance(block, Thinking) and not failing:
            delta = {"type": "signature_delta", "signature": signature(block.text)}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    reason = reply.stop_reason or (
        "tool_use" if any(isinstance(b, Tool) for b in reply.blocks) else "end_turn"
    )
    reason = "max_tokens" if reply.fail == "max_tokens" else reason
    ending: Json = {"stop_reason": reason, "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={"output_tokens": counter.fragments})
    yield _event("message_stop")


async def _failure(reply: Reply) -> AsyncIterator[str | None]:
    if reply.fail == "error":
        yield _event("error", error={"type": reply.error_type, "message": "It broke."})
    elif reply.fail == "garbage":
        yield "event: content_block_delta\ndata: {nonsense\n\n"
    elif reply.fail == "drop":
        yield None
    elif reply.fail == "stall":
        await asyncio.Event().wait()


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def _start(block: Block, call_id: str) -> Json:
    match block:
        case Tool():
            return {"type": "tool_use", "id": call_id, "name": block.name, "input": {}}
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Redacted():
            return {"type": "redacted_thinking", "data": block.data}
        case Text():
            return {"type": "text", "text": ""}


def _pieces(block: Block, size: int) -> Iterator[str]:
    match block:
        case Tool():
            yield ""
            written = block.raw
        case Redacted():
            return
        case _:
            written = block.text
    for at in range(0, len(written), size):
        yield written[at : at + size]


def _delta(block: Block, piece: str) -> Json:
    match block:
        case Tool():
            return {"type": "input_json_delta", "partial_json": piece}
        case Thinking():
            return {"type": "thinking_delta", "thinking": piece}
        case _:
            return {"type": "text_delta", "text": piece}
