"""A model that writes tokens at a pace, each of them its own time of writing.

Everything else that it is asked it answers from a script, without a pace.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterator

from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
)
from envelopes.providers.scripted import Conversation, ScriptedProvider

_HEAD = '{"parts":[{"metadata":{"partType":"response"},"text":"'
_NEXT = '"},{"metadata":{"partType":"response"},"text":"'
_TAIL = '"}],"turnState":"complete"}'
_BLOCK_TOKENS = 10
"""How many tokens of 20 characters are a block of Markdown."""
_PART_TOKENS = 8 * 4 * _BLOCK_TOKENS
"""How many tokens are a part: a longer text would be shown without formatting."""
_YIELD_EVERY = 20


class StreamingProvider(ScriptedProvider):
    """Understands "stream SECONDS HZ [markdown]", and hands "sdk SECONDS HZ" on to the SDK."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        words = Conversation(request).text.split()
        if words[:1] == ["sdk"]:
            async for event in AnthropicProvider("sk-bench", "bench").stream(request):
                yield event
            return
        if words[:1] != ["stream"]:
            async for event in super().stream(request):
                yield event
            return
        seconds, hz = float(words[1]), float(words[2])
        marks = _markdown() if words[3:] == ["markdown"] else _plain()
        written = [_HEAD]
        yield BlockStarted(0, "tool_use", id=f"toolu_{request.turn_id}", name="respond")
        yield InputFragment(0, _HEAD)
        began, count = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            before, after = next(marks)
            token = json.dumps(f"{before}{time.monotonic_ns()}{after}")[1:-1]
            if count and count % _PART_TOKENS == 0:
                token = _NEXT + token
            written.append(token)
            yield InputFragment(0, token)
            count += 1
            wait = began + count / hz - time.monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            elif count % _YIELD_EVERY == 0:
                # A reader of a network would let others on as well.
                await asyncio.sleep(0)
        written.append(_TAIL)
        yield InputFragment(0, _TAIL)
        yield BlockEnded(0, "tool_use", raw_input="".join(written))
        yield ReplyEnded("tool_use")


def _plain() -> Iterator[tuple[str, str]]:
    while True:
        yield "", " "


def _markdown() -> Iterator[tuple[str, str]]:
    """What stands before and after each token: a heading with its paragraph, a list, a table, a fence, again. A blank
    line closes each block after as many tokens."""
    inner = _BLOCK_TOKENS - 2
    while True:
        yield "## ", "\n\n"
        yield from [("", " ")] * inner
        yield "", "\n\n"
        yield from [("- ", "\n")] * (_BLOCK_TOKENS - 1)
        yield "- ", "\n\n"
        yield "| ", " | a |\n| --- | --- |\n"
        yield from [("| ", " | b |\n")] * inner
        yield "| ", " | c |\n\n"
        yield "```\n", "\n"
        yield from [("", "\n")] * inner
        yield "", "\n```\n\n"
