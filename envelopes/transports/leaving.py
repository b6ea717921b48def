"""Sockets of a server that is going: closed with a code that means "come back", and no new ones."""

from __future__ import annotations

import asyncio
from typing import Any

from envelopes.runtime.process import on_stopping, stopping

COME_BACK = 1012
"""Service restart, of the IANA registry of close codes: whoever connects again finds the next server."""

REASON = "The server is being replaced."


class Leaving:
    """Wraps websocket applications. When the process is asked to end, their sockets are closed with 1012; what a client
    sends then is not read, so it stays unanswered and is sent again on the next connection. A handshake that comes
    afterwards is accepted and closed at once: refused, it would look like a server that is broken."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if stopping():
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": COME_BACK, "reason": REASON})
            return
        socket = _Socket(receive, send)
        stay = on_stopping(socket.leave)
        try:
            await self.app(scope, socket.receive, socket.send)
        finally:
            stay()


class _Socket:
    """One connection, until it is left."""

    __slots__ = ("_accepted", "_left", "_receive", "_send")

    def __init__(self, receive: Any, send: Any) -> None:
        self._receive = receive
        self._send = send
        self._accepted = False
        self._left = False

    async def leave(self) -> None:
        if self._left:
            return
        self._left = True
        if not self._accepted:
            await self._send({"type": "websocket.accept"})
        await self._send({"type": "websocket.close", "code": COME_BACK, "reason": REASON})

    async def send(self, message: Any) -> None:
        if self._left:
            return
        self._accepted |= message["type"] == "websocket.accept"
        self._left |= message["type"] == "websocket.close"
        await self._send(message)

    async def receive(self) -> Any:
        while True:
            message = await self._receive()
            if not self._left or message["type"] == "websocket.disconnect":
                return message
            # A client that goes on sending must not keep the loop from anything else.
            await asyncio.sleep(0)
