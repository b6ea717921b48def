"""A fake of OpenAI's chat completions: their chunks, and what they refuse.

``api.base_url`` with ``/v1`` behind it, ``api.address``, goes into ``OPENAI_BASE_URL``.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from envelopes.fakes.chat_rules import problem_of
from envelopes.fakes.replies import Block, Json, Plain, Refusal, Reply, Text, Thinking, Tool, steps
from envelopes.fakes.server import Recorded, Server

USAGE = {
    "prompt_tokens": 140,
    "completion_tokens": 0,
    "total_tokens": 140,
    "prompt_tokens_details": {"cached_tokens": 40},
}


@dataclass
class FakeChatApi(Server):
    """``window``: how many tokens a request may have, four characters each; what is longer is refused. ``indexed``:
    pieces of calls say which call they belong to, which some servers leave out."""

    window: int = 0
    indexed: bool = True

    @property
    def address(self) -> str:
        return f"{self.base_url}/v1"

    def answer(self, recorded: Recorded) -> Reply | Refusal | Plain:
        problem = problem_of(recorded.path, recorded.headers, recorded.body)
        if problem is not None:
            self.problems.append(problem[2])
            return Refusal(*problem)
        told = {name: recorded.body.get(name) for name in ("messages", "tools")}
        counted = len(json.dumps(told, ensure_ascii=False)) // 4
        if self.window and counted > self.window:
            words = f"This model's maximum context length is {self.window} tokens; this has {counted}."
            return Refusal(400, "context_length_exceeded", words)
        return self.following(recorded.body)

    def error(self, refusal: Refusal) -> Json:
        return {
            "error": {
                "message": refusal.message,
                "type": "invalid_request_error",
                "param": None,
                "code": refusal.kind,
            }
        }

    async def written(self, recorded: Recorded, reply: Reply) -> AsyncIterator[str | None]:
        writing = _Writing(recorded.body, reply, indexed=self.indexed)
        yield writing.chunk({"role": "assistant", "content": ""})
        for what, index, text in steps(reply):
            block = reply.blocks[index]
            if what == "piece":
                await asyncio.sleep(reply.pace)
                recorded.fragments += 1
                yield writing.piece(index, block, text)
            elif what == "start" and isinstance(block, Tool):
                yield writing.started(index, block)
            if reply.noise:
                yield ": a comment\n\n"
                yield writing.chunk({"annotations": [{"nothing": "that a client knows"}]})
        if reply.fail not in ("", "max_tokens"):
            async for failing in self.failure(reply):
                yield failing
            return
        calls = any(isinstance(block, Tool) for block in reply.blocks)
        reason = reply.stop_reason or ("tool_calls" if calls else "stop")
        yield writing.chunk({}, "length" if reply.fail == "max_tokens" else reason)
        if (recorded.body.get("stream_options") or {}).get("include_usage"):
            usage = reply.usage or {**USAGE, "completion_tokens": recorded.fragments}
            yield writing.event({"choices": [], "usage": usage})
        yield "data: [DONE]\n\n"

    def error_event(self, reply: Reply) -> str:
        error = {"message": "It broke.", "type": reply.error_type, "code": reply.error_type}
        return f"data: {json.dumps({'error': error})}\n\n"

    def garbage(self) -> str:
        return "data: {nonsense\n\n"


class _Writing:
    """One reply as chunks. ``calls`` numbers the tool calls among its blocks."""

    def __init__(self, body: Any, reply: Reply, *, indexed: bool) -> None:
        self._indexed = indexed
        self._head = {
            "id": f"chatcmpl-{secrets.token_hex(8)}",
            "object": "chat.completion.chunk",
            "created": 1_800_000_000,
            "model": body["model"],
        }
        tools = [number for number, block in enumerate(reply.blocks) if isinstance(block, Tool)]
        self._calls = {number: place for place, number in enumerate(tools)}
        self._ids = {number: f"call_{secrets.token_hex(8)}" for number in tools}

    def event(self, told: Json) -> str:
        return f"data: {json.dumps({**self._head, **told})}\n\n"

    def chunk(self, delta: Json, reason: str | None = None) -> str:
        return self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    def started(self, number: int, block: Tool) -> str:
        call = {
            "id": self._ids[number],
            "type": "function",
            "function": {"name": block.name, "arguments": ""},
        }
        return self._call(number, call)

    def piece(self, number: int, block: Block, text: str) -> str:
        match block:
            case Tool():
                return self._call(number, {"function": {"arguments": text}})
            case Thinking():
                return self.chunk({"reasoning_content": text})
            case Text():
                return self.chunk({"content": text})
        raise TypeError(f"Chat completions have no {type(block).__name__}.")

    def _call(self, number: int, call: Json) -> str:
        place = {"index": self._calls[number]} if self._indexed else {}
        return self.chunk({"tool_calls": [{**place, **call}]})
