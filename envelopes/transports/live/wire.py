"""What a connection of the live channel sends: frames, and how it closes. Nothing goes out once it is closed."""

from __future__ import annotations

import logging
from typing import Any

from envelopes.transports.at_once import SendAtOnce
from envelopes.transports.live import frames
from envelopes.transports.live.caps import Close
from envelopes.transports.live.states import CLOSED, State

logger = logging.getLogger(__name__)


class Gone(Exception):
    """Nobody is at the other end any more."""


class Wire:
    """``send`` is that of the ASGI connection, ``state`` where the connection stands."""

    def __init__(self, send: Any, state: State, at_once: SendAtOnce | None = None) -> None:
        self._deliver, self._state, self._at_once = send, state, at_once
        self.answering = False
        """Whether a frame of the client is being answered: what it causes comes behind the answer."""

    def at_once(self, *texts: str) -> bool:
        """Send frames in the call; see ``SendAtOnce``."""
        if self._at_once is None or self.answering or self._state.now == CLOSED:
            return False
        return self._at_once(*texts)

    async def say(self, kind: str, payload: Any, request: str | None = None) -> None:
        """A frame. Raises ``Gone``."""
        await self.text(frames.frame(kind, payload, request))

    async def text(self, text: str) -> None:
        """A frame as it is. Raises ``Gone``."""
        # As ``_send``, less a call for each frame.
        if self._state.now == CLOSED:
            raise Gone
        try:
            await self._deliver({"type": "websocket.send", "text": text})
        except Exception as error:
            raise _gone(error) from error

    async def accept(self) -> None:
        """Raises ``Gone``."""
        await self._send({"type": "websocket.accept"})

    async def close(self, close: Close) -> None:
        """What still arrives has no effect and no answer. Raises ``Gone``."""
        if self._state.now == CLOSED:
            return
        try:
            await self._send({"type": "websocket.close", "code": close.code, "reason": close.reason})
        finally:
            self._state.go(CLOSED)

    async def end(self, close: Close) -> None:
        """Close from beside the frames."""
        try:
            await self.close(close)
        except Gone:
            return

    async def _send(self, message: Any) -> None:
        if self._state.now == CLOSED:
            raise Gone
        try:
            await self._deliver(message)
        except Exception as error:
            raise _gone(error) from error


def _gone(error: Exception) -> Gone:
    # Servers differ in what they raise when the other end has gone.
    logger.info("A live channel was gone as something was sent to it: %r", error)
    return Gone()
