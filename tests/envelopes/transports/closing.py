"""How a socket ends."""

from __future__ import annotations

from tests.sockets import Socket


async def close_code(socket: Socket) -> int:
    """The code of the close, which is the next thing that the server says."""
    while True:
        message = await socket.wire.receive_output(timeout=30)
        if message["type"] == "websocket.close":
            return int(message["code"])
        assert message["type"] != "websocket.send", f"data before the close: {message}"
