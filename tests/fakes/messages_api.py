"""A fake of the Messages API on a loopback port, speaking HTTP/1.1 and server-sent events.

In a test's own event loop: ``async with FakeMessagesApi() as api``; from threads and other processes:
``with serving() as api``. ``api.base_url`` goes into ``ANTHROPIC_BASE_URL``. Replies come from ``api.replies`` (used
up in order) and then from ``api.handler`` (called with the request's body). Whatever the real API would refuse gets a
400 here and is listed in ``api.problems``, which a test should find empty at its end.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

from tests.fakes.messages_replies import Refusal, Reply, respond, said, written
from tests.fakes.messages_rules import problem_of


@dataclass
class Recorded:
    """One request as it came in, and what became of its answer."""

    path: str
    headers: dict[str, str]
    body: Any
    disconnected: bool = False
    fragments: int = 0


@dataclass
class FakeMessagesApi:
    replies: deque[Reply | Refusal] = field(default_factory=deque)
    handler: Callable[[Any], Reply | Refusal] = lambda body: Reply((respond(said("Hello.")),))
    requests: list[Recorded] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    base_url: str = ""

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=8 * 1024 * 1024)
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def disconnected(self, request: int = -1, *, within: float = 5.0) -> bool:
        """Whether the client of that request goes away within so many seconds."""
        for _ in range(int(within / 0.01)):
            if self.requests and self.requests[request].disconnected:
                return True
            await asyncio.sleep(0.01)
        return False

    # -- HTTP -----------------------------------------------------------------------------------------------------

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; says whether the connection lives on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {
            k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        recorded = Recorded(path, headers, body)
        self.requests.append(recorded)
        answer = self._answer(method, recorded)
        if isinstance(answer, Refusal):
            _refuse(writer, answer)
            await writer.drain()
            return True
        return await self._stream(reader, writer, recorded, answer)

    def _answer(self, method: str, recorded: Recorded) -> Reply | Refusal:
        problem = problem_of(recorded.path, recorded.headers, recorded.body)
        if method != "POST":
            problem = (405, "invalid_request_error", method)
        if problem is not None:
            self.problems.append(problem[2])
            return Refusal(*problem)
        return self.replies.popleft() if self.replies else self.handler(recorded.body)

    async def _stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, recorded: Recorded, reply: Reply
    ) -> bool:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
            b"request-id: req_fake\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        # A client that goes away shows only here: it has nothing more to say while it listens.
        gone = asyncio.create_task(reader.read(1))
        sending = asyncio.create_task(self._send(writer, recorded, reply))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                recorded.disconnected = True
                return False
            return sending.result()
        finally:
            for task in (gone, sending):
                task.cancel()
            await asyncio.gather(gone, sending, return_exceptions=True)

    async def _send(self, writer: asyncio.StreamWriter, recorded: Recorded, reply: Reply) -> bool:
        async for event in written(recorded.body, reply, recorded):
            if event is None:
                writer.transport.abort()
                return False
            data = event.encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


@contextmanager
def serving() -> Iterator[FakeMessagesApi]:
    """A fake in a thread of its own, for clients in other loops, threads and processes."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fake-messages-api", daemon=True)
    thread.start()
    api = FakeMessagesApi()
    asyncio.run_coroutine_threadsafe(api.__aenter__(), loop).result(5)
    try:
        yield api
    finally:
        asyncio.run_coroutine_threadsafe(api.__aexit__(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


def _refuse(writer: asyncio.StreamWriter, refusal: Refusal) -> None:
    body = json.dumps(
        {
            "type": "error",
            "error": {"type": refusal.kind, "message": refusal.message},
            "request_id": "req_fake",
        }
    ).encode()
    lines = [
        f"HTTP/1.1 {refusal.status} Refused",
        "content-type: application/json",
        f"content-length: {len(body)}",
    ]
    lines += ["request-id: req_fake", *(f"{name}: {value}" for name, value in refusal.headers)]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
