"""Daphne's sockets, with what it offers no option for: every close code and its reason, and limits that hold for what
comes in only.

Measured with daphne 4.2 and autobahn 25: codes under 3000 raise, so nobody can be told to come back; a message over the
limit cuts the connection without a code; and the same limit raises for what the server itself sends.
"""

from __future__ import annotations

from typing import Any

from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from envelopes.conf import setting

READ_FRAMES = 8
"""A frame may be so many times larger than ``BEACH_FRAME_BYTES`` and is still read, to be answered with its id."""

REASON_BYTES = 123
"""RFC 6455, section 5.5: what is left of a control frame."""


class Protocol(WebSocketProtocol):  # type: ignore[misc]  # daphne ships no types
    """One connection."""

    maxMessagePayloadSize: int

    def handle_reply(self, message: Any) -> None:
        """As daphne's; a close goes out with the code that the application chose."""
        if message.get("type") != "websocket.close" or self.state == self.STATE_CONNECTING:
            super().handle_reply(message)
            return
        reason = str(message.get("reason") or "").encode()[:REASON_BYTES].decode(errors="ignore").encode()
        self.sendCloseFrame(code=message.get("code") or 1000, reasonUtf8=reason)

    def sendMessage(self, *args: Any, **options: Any) -> None:  # noqa: N802 - autobahn's name
        """Whatever size it has: a large surface is one frame."""
        limit, self.maxMessagePayloadSize = self.maxMessagePayloadSize, 0
        try:
            super().sendMessage(*args, **options)
        finally:
            self.maxMessagePayloadSize = limit


class Factory(WebSocketFactory):  # type: ignore[misc]  # daphne ships no types
    """Makes the connections of a server."""

    protocol = Protocol

    def setProtocolOptions(self, **options: Any) -> None:  # noqa: N802 - autobahn's name
        """Daphne's options, except for sizes: too large is closed with 1009, and no longer dropped."""
        most = setting("BEACH_FRAME_BYTES") * READ_FRAMES
        super().setProtocolOptions(
            **{**options, "failByDrop": False, "maxMessagePayloadSize": most, "maxFramePayloadSize": most}
        )
