"""A fake of the Messages API: its events, and what it refuses.

``api.base_url`` goes into ``ANTHROPIC_BASE_URL``.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from envelopes.fakes.messages_rules import problem_of, signature
from envelopes.fakes.replies import (
    Block,
    Json,
    Plain,
    Redacted,
    Refusal,
    Reply,
    Text,
    Thinking,
    Tool,
    steps,
)
from envelopes.fakes.server import Recorded, Server

USAGE = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 1}

COUNT = "/v1/messages/count_tokens"


def about(body: Any) -> int:
    """How many tokens a request counts for: four characters each, as no model does it."""
    told = {name: body[name] for name in ("system", "messages", "tools") if name in body}
    return len(json.dumps(told, ensure_ascii=False)) // 4


@dataclass
class FakeMessagesApi(Server):
    """``window``: how many tokens a request may have by ``count``; what is longer is refused as the API does it."""

    window: int = 0
    count: Callable[[Any], int] = about

    def answer(self, recorded: Recorded) -> Reply | Refusal | Plain:
        problem = problem_of(recorded.path, recorded.headers, recorded.body)
        if problem is not None:
            self.problems.append(problem[2])
            return Refusal(*problem)
        if recorded.path.split("?", maxsplit=1)[0] == COUNT:
            return Plain({"input_tokens": self.count(recorded.body)})
        if self.window and (counted := self.count(recorded.body)) > self.window:
            told = f"prompt is too long: {counted} tokens > {self.window} maximum"
            return Refusal(400, "invalid_request_error", told)
        return self.following(recorded.body)

    def error(self, refusal: Refusal) -> Json:
        error = {"type": refusal.kind, "message": refusal.message}
        return {"type": "error", "error": error, "request_id": "req_fake"}

    async def written(self, recorded: Recorded, reply: Reply) -> AsyncIterator[str | None]:
        usage = USAGE if reply.usage is None else {"output_tokens": 1, **reply.usage}
        message: Json = {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": recorded.body["model"],
        }
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield _event("message_start", message=message)
        if reply.pings:
            yield _event("ping")
        for what, index, text in steps(reply):
            block = reply.blocks[index]
            if what == "piece":
                await asyncio.sleep(reply.pace)
                recorded.fragments += 1
            for event in _events(what, index, block, text, whole=not reply.fail):
                yield event
            if reply.noise:
                yield _event("content_block_hint", index=index, hint="nothing that a client knows")
        if reply.fail not in ("", "max_tokens"):
            async for failing in self.failure(reply):
                yield failing
            return
        calls = any(isinstance(block, Tool) for block in reply.blocks)
        reason = reply.stop_reason or ("tool_use" if calls else "end_turn")
        reason = "max_tokens" if reply.fail == "max_tokens" else reason
        ending: Json = {"stop_reason": reason, "stop_sequence": None}
        count = (reply.usage or {}).get("output_tokens", recorded.fragments)
        yield _event("message_delta", delta=ending, usage={"output_tokens": count})
        yield _event("message_stop")

    def error_event(self, reply: Reply) -> str:
        return _event("error", error={"type": reply.error_type, "message": "It broke."})

    def garbage(self) -> str:
        return "event: content_block_delta\ndata: {nonsense\n\n"


def _event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def _events(what: str, index: int, block: Block, text: str, *, whole: bool) -> list[str]:
    match what:
        case "start":
            content = _start(block, f"toolu_{secrets.token_hex(12)}")
            started = [_event("content_block_start", index=index, content_block=content)]
            # The first fragment of a call is always empty.
            empty = _event("content_block_delta", index=index, delta=_delta(block, ""))
            return [*started, empty] if isinstance(block, Tool) else started
        case "piece":
            return [_event("content_block_delta", index=index, delta=_delta(block, text))]
    ended = [_event("content_block_stop", index=index)]
    if isinstance(block, Thinking) and whole:
        delta = {"type": "signature_delta", "signature": signature(block.text)}
        return [_event("content_block_delta", index=index, delta=delta), *ended]
    return ended


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


def _delta(block: Block, piece: str) -> Json:
    match block:
        case Tool():
            return {"type": "input_json_delta", "partial_json": piece}
        case Thinking():
            return {"type": "thinking_delta", "thinking": piece}
        case _:
            return {"type": "text_delta", "text": piece}
