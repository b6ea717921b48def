"""The least that speaks WebSocket (RFC 6455) to the panel: text frames in and out, pings answered.

It must cost less than what it measures, so it reads no JSON: callers look for their own marks in the bytes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tests.bench.serving.processes import CLIENT_CORE, BenchError

T = TypeVar("T")
Hear = Callable[["Socket", bytes], object]

_TEXT, _CONTINUED, _CLOSE, _PING, _PONG = 1, 0, 8, 9, 10
_PATIENCE = 120.0
_AT_ONCE = 25


@dataclass(frozen=True)
class Conversation:
    """What a page knows of a conversation: its id, the cookie of its owner, the last row that the page shows."""

    id: str
    cookie: str = ""
    seq: int = 0


def nothing(_socket: Socket, _frame: bytes) -> None:
    """Hears and forgets."""


class Socket(asyncio.Protocol):
    """One connection. ``hear(socket, frame)`` gets every text frame, from the welcome on."""

    WELCOME = b'"welcome"'

    def __init__(self, port: int, talk: Conversation, hear: Hear = nothing) -> None:
        loop = asyncio.get_running_loop()
        self.port, self.talk, self.hear = port, talk, hear
        self.opened: asyncio.Future[None] = loop.create_future()
        self.welcomed: asyncio.Future[None] = loop.create_future()
        self.closed = ""
        self._buffer = bytearray()
        self._upgraded = False
        self._text = b""
        self._transport: asyncio.Transport | None = None

    async def connect(self) -> Socket:
        """Open, greet, be welcomed. Raises ConnectionError."""
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self.port)
        await self.opened
        self.greet()
        await self.welcomed
        return self

    @property
    def path(self) -> str:
        return f"/ws/chat/{self.talk.id}/"

    def greet(self) -> None:
        self.send({"type": "hello", "after": self.talk.seq})

    def send(self, frame: dict[str, Any]) -> None:
        self._write(_TEXT, json.dumps(frame).encode())

    def close(self) -> None:
        """The network is gone: no goodbye."""
        self.hear = nothing
        if self._transport is not None:
            self._transport.abort()

    # -- asyncio.Protocol ----------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        host = f"127.0.0.1:{self.port}"
        lines = (
            f"GET {self.path} HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version: 13",
            f"Origin: http://{host}",
            f"Cookie: {self.talk.cookie or 'none=none'}",
        )
        transport.write("\r\n".join([*lines, "", ""]).encode())

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = self.closed or repr(error)
        for waiting in (self.opened, self.welcomed):
            if not waiting.done():
                waiting.set_exception(ConnectionError(f"The socket was closed: {self.closed}"))
                # Whoever waits for the first one never gets to the second.
                waiting.exception()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._upgraded or self._upgrade():
            self._read()

    def _upgrade(self) -> bool:
        head, found, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not found:
            return False
        status = head.split(b"\r\n", 1)[0].decode()
        if " 101 " not in status:
            self.closed = status
            self.close()
            return False
        self._upgraded, self._buffer = True, bytearray(rest)
        self.opened.set_result(None)
        return True

    def _read(self) -> None:
        buffer, at = self._buffer, 0
        while len(buffer) - at >= 2:
            size, start = buffer[at + 1] & 127, at + 2
            if size > 125:
                wide = 2 if size == 126 else 8
                size, start = int.from_bytes(buffer[start : start + wide], "big"), start + wide
            if len(buffer) < start + size:
                break
            head, payload = buffer[at], bytes(buffer[start : start + size])
            at = start + size
            self._take(head & 15, payload, last=bool(head & 128))
        del buffer[:at]

    def _take(self, kind: int, payload: bytes, *, last: bool) -> None:
        if kind in (_TEXT, _CONTINUED):
            if self._text or not last:
                self._text += payload
                if not last:
                    return
                payload, self._text = self._text, b""
            if not self.welcomed.done():
                if self.WELCOME not in payload[:40]:
                    return
                self.welcomed.set_result(None)
            self.hear(self, payload)
        elif kind == _PING:
            self._write(_PONG, payload)
        elif kind == _CLOSE:
            self.closed = f"with code {int.from_bytes(payload[:2], 'big')}"
            self.close()

    def _write(self, kind: int, payload: bytes) -> None:
        assert self._transport is not None
        size = len(payload)
        head = (
            bytes((128 | kind, 128 | size))
            if size < 126
            else bytes((128 | kind, 254)) + size.to_bytes(2, "big")
        )
        # A mask of zeros is a mask, and nothing has to be computed.
        self._transport.write(head + bytes(4) + payload)


class LiveSocket(Socket):
    """One at the live channel, which gets whatever comes from now on."""

    WELCOME = b'"type":"ack"'

    @property
    def path(self) -> str:
        return "/ws/live/"

    def greet(self) -> None:
        self.send({"type": "subscribe", "payload": {"sessionId": self.talk.id}})


async def connect_all(
    port: int, talks: Sequence[Conversation], hear: Hear = nothing, kind: type[Socket] = Socket
) -> list[Socket]:
    """Sockets that are welcomed, a few at a time. Raises BenchError when one is refused or waits for minutes.

    Each lacks the last row, so that its conversation is at hand: who has every row is greeted without (``storm``).
    """
    sockets: list[Socket] = []
    try:
        for at in range(0, len(talks), _AT_ONCE):
            behind = [replace(talk, seq=max(talk.seq - 1, 0)) for talk in talks[at : at + _AT_ONCE]]
            some = [kind(port, talk, hear) for talk in behind]
            sockets += some
            async with asyncio.timeout(_PATIENCE):
                await asyncio.gather(*(one.connect() for one in some))
    except (OSError, TimeoutError) as error:
        close_all(sockets)
        raise BenchError(f"Not all sockets were greeted: {error!r}") from error
    return sockets


def close_all(sockets: Sequence[Socket]) -> None:
    for one in sockets:
        one.close()


@contextmanager
def closing(sockets: Sequence[Socket]) -> Iterator[None]:
    """Hangs up afterwards. Raises BenchError when a server has hung up before."""
    try:
        yield
        if lost := [one.closed for one in sockets if one.closed]:
            raise BenchError(f"{len(lost)} sockets were closed by the server: {lost[0]}")
    finally:
        close_all(sockets)


async def until(holds: Callable[[], bool], what: str, *, seconds: float = _PATIENCE) -> None:
    """Wait for something that frames bring. Raises BenchError."""
    try:
        async with asyncio.timeout(seconds):
            while not holds():  # noqa: ASYNC110  # what it waits for is a count that many sockets make
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise BenchError(f"Not within {seconds:g} s: {what}.") from None


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run the client's half: on its core, with uvloop where it is installed, without the collector."""
    try:
        from uvloop import new_event_loop  # type: ignore[import-not-found]  # no dependency of ours
    except ImportError:
        new_event_loop = asyncio.new_event_loop
    os.sched_setaffinity(0, {CLIENT_CORE})
    gc.collect()
    gc.disable()
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            return runner.run(main)
    finally:
        gc.enable()
