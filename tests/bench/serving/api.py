"""A Messages API on loopback whose tokens are their own time of writing: ``python -m tests.bench.serving.api PORT``.

It answers a request whose last words are "sdk SECONDS HZ" with one respond() call: a text of so many tokens a second.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from envelopes.fakes import FakeMessagesApi, Recorded, Reply
from tests.bench.serving.processes import CLIENT_CORE, Process, clean_environment
from tests.liveserver import free_port

ASKED = re.compile(r"sdk ([\d.]+) ([\d.]+)")
PAUSE = 0.3
"""Seconds between the beginning of a reply and its first token: what a turn's start costs is another row."""

_BACKLOG = 1024


class StampingApi(FakeMessagesApi):
    """Writes tokens at a pace in place of prepared replies."""

    async def serve(self, port: int) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", port, backlog=_BACKLOG)
        async with server:
            await server.serve_forever()

    async def _send(self, writer: asyncio.StreamWriter, recorded: Recorded, _reply: Reply) -> bool:
        async def put(kind: str, **content: Any) -> None:
            data = f"event: {kind}\ndata: {json.dumps({'type': kind, **content})}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()

        async def piece(words: str) -> None:
            await put(
                "content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": words}
            )

        await put("message_start", message=_message(recorded.body["model"]))
        block = {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}", "name": "respond", "input": {}}
        await put("content_block_start", index=0, content_block=block)
        await piece('{"parts":[{"metadata":{"partType":"response"},"text":"')
        await asyncio.sleep(PAUSE)
        count = await _tokens(piece, *_asked(recorded.body))
        await piece('"}],"turnState":"complete"}')
        await put("content_block_stop", index=0)
        await put(
            "message_delta",
            delta={"stop_reason": "tool_use", "stop_sequence": None},
            usage={"output_tokens": count},
        )
        await put("message_stop")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _tokens(piece: Callable[[str], Coroutine[Any, Any, None]], seconds: float, hz: float) -> int:
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        await piece(f"{time.monotonic_ns()} ")
        count += 1
        await asyncio.sleep(max(0.0, began + count / hz - time.monotonic()))
    return count


def _asked(body: Any) -> tuple[float, float]:
    """Of the last message, whatever stands around it there."""
    found = ASKED.search(json.dumps(body["messages"][-1]))
    if found is None:
        raise ValueError("nobody said how many tokens are wanted")
    return float(found[1]), float(found[2])


def _message(model: str) -> dict[str, Any]:
    return {
        "id": f"msg_{time.monotonic_ns()}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 1},
    }


class ApiServer(Process):
    """The same in a process of its own, on the client's core."""

    def __init__(self, log: Path) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "tests.bench.serving.api", str(self.port)]
        super().__init__(command, clean_environment({}), log, core=CLIENT_CORE)
        try:
            self.listens(self.port)
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


if __name__ == "__main__":
    asyncio.run(StampingApi().serve(int(sys.argv[1])))
