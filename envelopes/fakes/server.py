"""What the fakes have in common: HTTP/1.1 and server-sent events on a loopback port.

In a test's own event loop: ``async with FakeMessagesApi() as api``; from threads and other processes:
``with serving(FakeMessagesApi()) as api``. Replies come from ``api.replies`` (used up in order) and then from
``api.handler`` (called with the request's body). Whatever the real API would refuse gets an error here as well, and is
listed in ``api.problems``, which a test should find empty at its end.
"""

from __future__ import annotations

import asyncio
import json
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from envelopes.fakes.replies import Json, Plain, Refusal, Reply, respond, said


@dataclass
class Recorded:
    """One request as it came in, and what became of its answer."""

    path: str
    headers: dict[str, str]
    body: Any
    disconnected: bool = False
    fragments: int = 0


@dataclass
class Server(ABC):
    replies: deque[Reply | Refusal] = field(default_factory=deque)
    handler: Callable[[Any], Reply | Refusal] = lambda body: Reply((respond(said("Hello.")),))
    requests: list[Recorded] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    base_url: str = ""

    async def __aenter__(self) -> Self:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=32 * 1024 * 1024)
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    # -- what a protocol says -------------------------------------------------------------------------------------

    @abstractmethod
    def answer(self, recorded: Recorded) -> Reply | Refusal | Plain:
        """What is answered: ``following``, unless the request is refused."""

    @abstractmethod
    def error(self, refusal: Refusal) -> Json:
        """The body of a refusal."""

    @abstractmethod
    def written(self, recorded: Recorded, reply: Reply) -> AsyncIterator[str | None]:
        """The reply as server-sent events; None breaks the connection. Counts fragments as they are sent."""

    @abstractmethod
    def error_event(self, reply: Reply) -> str:
        """An error in the middle of a stream."""

    @abstractmethod
    def garbage(self) -> str:
        """An event that is no JSON."""

    # -- for whoever writes one -----------------------------------------------------------------------------------

    def following(self, body: Any) -> Reply | Refusal:
        """The next of ``replies``, or what ``handler`` says."""
        return self.replies.popleft() if self.replies else self.handler(body)

    async def failure(self, reply: Reply) -> AsyncIterator[str | None]:
        """How a reply fails in its middle."""
        match reply.fail:
            case "error":
                yield self.error_event(reply)
            case "garbage":
                yield self.garbage()
            case "drop":
                yield None
            case "stall":
                await asyncio.Event().wait()

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
            self._say(writer, answer.status, self.error(answer), answer.headers)
        elif isinstance(answer, Plain):
            self._say(writer, 200, answer.body)
        elif answer.fail == "page":
            self._page(writer)
        else:
            return await self._stream(reader, writer, recorded, answer)
        await writer.drain()
        return True

    def _answer(self, method: str, recorded: Recorded) -> Reply | Refusal | Plain:
        if method != "POST":
            self.problems.append(method)
            return Refusal(405, "invalid_request_error", method)
        return self.answer(recorded)

    async def _stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, recorded: Recorded, reply: Reply
    ) -> bool:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
            b"request-id: req_fake\r\nx-request-id: req_fake\r\ntransfer-encoding: chunked\r\n\r\n"
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
        async for event in self.written(recorded, reply):
            if event is None:
                writer.transport.abort()
                return False
            data = event.encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _say(
        self,
        writer: asyncio.StreamWriter,
        status: int,
        told: Json,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        body = json.dumps(told).encode()
        lines = [f"HTTP/1.1 {status} Said", "content-type: application/json", f"content-length: {len(body)}"]
        named = (("request-id", "req_fake"), ("x-request-id", "req_fake"), *headers)
        lines += [f"{name}: {value}" for name, value in named]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    def _page(self, writer: asyncio.StreamWriter) -> None:
        body = b"<html><body>Sign in to this network first.</body></html>"
        head = f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)


Api = TypeVar("Api", bound=Server)


@contextmanager
def serving(api: Api) -> Iterator[Api]:
    """``api`` in a thread of its own, for clients in other loops, threads and processes."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fake-model-api", daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(api.__aenter__(), loop).result(5)
    try:
        yield api
    finally:
        asyncio.run_coroutine_threadsafe(api.__aexit__(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()
