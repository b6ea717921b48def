"""What a server of ours offers its sockets beyond ASGI (``envelopes.transports.at_once``), for a test's connection."""

from __future__ import annotations

from collections.abc import Callable

from channels.testing import WebsocketCommunicator

from envelopes.transports.at_once import EXTENSION


def offer(wire: WebsocketCommunicator, can: Callable[[], bool] = lambda: True) -> None:
    """Have the application of ``wire`` send in the call wherever ``can`` says so: its reader may be behind."""

    def send(*texts: str) -> bool:
        if not can():
            return False
        for text in texts:
            wire.output_queue.put_nowait({"type": "websocket.send", "text": text})
        return True

    wire.scope["extensions"] = {EXTENSION: send}
