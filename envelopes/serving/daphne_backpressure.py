"""Backpressure, which daphne does not have: it writes whatever an application sends at once, and what a reader does not
take stays in memory, however much that is and for however long.

Here an application waits in ``send`` while more than ``HELD_BYTES`` of what it has sent lie in this process, and a
reader that takes nothing for ``BEACH_READER_SECONDS`` is cut off.

Measured with Twisted 26: a transport pauses its producer with more than ``FileDescriptor.bufferSize`` bytes, 64 KiB,
and resumes it when all of them have gone.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from twisted.internet.abstract import FileDescriptor

from envelopes.conf import conf

logger = logging.getLogger(__name__)

HELD_BYTES = FileDescriptor.bufferSize
"""What one connection may hold before its application waits; the message that crosses it is taken whole."""

FRAMES_WAITING = 64
"""So many frames of one socket wait for the application before no more is read of it."""


class Unread:
    """Connections that hold something for a reader that is behind, and since when it has taken nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[Any, tuple[object, float]] = {}

    def __len__(self) -> int:
        return len(self._since)

    def add(self, transport: Any) -> None:
        """``transport`` holds something for its reader."""
        # There is no other kind behind an endpoint that is not encrypted, and a proxy does that.
        if isinstance(transport, FileDescriptor) and transport not in self._since:
            self._since[transport] = _standing(transport), self._clock()

    def discard(self, transport: Any) -> None:
        """It holds nothing any more, or is gone."""
        self._since.pop(transport, None)

    def check(self) -> None:
        """Cut off those that have taken nothing for too long: what they hold is not worth waiting for."""
        now = self._clock()
        for transport, (stood, since) in list(self._since.items()):
            stands = _standing(transport)
            if stands is None:
                self.discard(transport)
            elif stands != stood:
                self._since[transport] = stands, now
            elif now - since >= conf.BEACH_READER_SECONDS:
                self.discard(transport)
                logger.info("Cut off a reader that took nothing for %.0f seconds.", now - since)
                transport.abortConnection()


unread = Unread()
"""Of this process."""


def _standing(transport: Any) -> object:
    """How far the reader of ``transport`` is: another value whenever it has taken something; None once there is nothing
    left for it. Twisted tells nobody, so its own fields are read; what is written later is in another one."""
    if not transport.connected:
        return None
    now = (transport.offset, len(transport.dataBuffer))
    return now if transport.dataBuffer or transport._tempDataBuffer else None


class Backpressure:
    """A push producer (``twisted.internet.interfaces.IPushProducer``): the connection, which lets its application wait
    until there is room. ``transport`` is what it writes to."""

    transport: Any
    _room: asyncio.Future[None] | None = None

    def pauseProducing(self) -> None:  # noqa: N802 - twisted's name
        """There is no room: called with each further write, too."""
        if self._room is None:
            self._room = asyncio.get_running_loop().create_future()
            unread.add(self.transport)

    def resumeProducing(self) -> None:  # noqa: N802 - twisted's name
        """All that was written has gone."""
        self.stopProducing()
        if self.transport.disconnecting:
            # Twisted closes when it has written what was left, and asks the producer for more instead, if it has one.
            self.transport.unregisterProducer()

    def stopProducing(self) -> None:  # noqa: N802 - twisted's name
        """The connection is gone."""
        unread.discard(self.transport)
        self.go_on()

    def go_on(self) -> None:
        """Let nobody wait any longer."""
        room, self._room = self._room, None
        if room is not None:
            room.set_result(None)

    @property
    def is_behind(self) -> bool:
        """Whether there is no room."""
        return self._room is not None

    async def room(self) -> None:
        """Returns when there is room, or nobody at the other end."""
        while self._room is not None:
            # Not by itself: who is cancelled here would cancel it for the others.
            await asyncio.wait([self._room])


class Inbox:
    """What an application has still to receive: one puts, one gets. An ``asyncio.Queue`` has three queues and an event,
    3 KiB for each socket that has nothing to say.

    ``transport``: of a socket, which is not read while ``FRAMES_WAITING`` wait. An application that waits for its
    reader receives nothing meanwhile.
    """

    __slots__ = ("_messages", "_paused", "_transport", "_waiting")

    def __init__(self, transport: Any = None) -> None:
        self._messages: list[Any] = []
        self._waiting: asyncio.Future[None] | None = None
        self._transport = transport
        self._paused = False

    def put_nowait(self, message: Any) -> None:
        self._messages.append(message)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
        if self._transport is not None and not self._paused and len(self._messages) >= FRAMES_WAITING:
            self._paused = True
            self._transport.pauseProducing()

    async def get(self) -> Any:
        while not self._messages:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        message = self._messages.pop(0)
        if self._paused and not self._messages:
            self._paused = False
            self._transport.resumeProducing()
        return message
