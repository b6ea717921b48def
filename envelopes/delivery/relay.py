"""The relay: rings and streamed text from one process to the others, through the channel layer.

One group for all sessions and one reader a process (a group per session does not scale in the in-memory layer).
Rings carry no data; a lost one costs latency, since processes poll.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Coroutine
from functools import partial
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from envelopes.database_threads import call_in
from envelopes.delivery.deltas import Delta, DeltaHub, deltas
from envelopes.log.doorbell import Doorbell, doorbell
from envelopes.tasks import Unfinished, end, within
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

GROUP = "beach.doorbell"
QUEUED = 10_000
JOIN_SECONDS = 5.0
"""How often membership of the group is renewed: it expires, and a Redis that was started anew knows of nobody."""

FLUSH_SECONDS, END_SECONDS, LEAVE_SECONDS = 0.5, 1.0, 0.5
"""How long the steps of a stop may take: what waits to be sent, the tasks, the group. A Redis may be silent."""


class Relay:
    """Between this process and the others. Its own messages are known by a random name and ignored."""

    def __init__(self, layer: Any, bell: Doorbell = doorbell, hub: DeltaHub = deltas) -> None:
        self.layer = layer
        self.bell = bell
        self.hub = hub
        self.name = secrets.token_hex(8)
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    async def start(self) -> None:
        """Returns at once: whether Redis answers is seen later, and a process serves without it."""
        self._stopping = False
        self._loop = asyncio.get_running_loop()
        self._outgoing: asyncio.Queue[JsonObject] = asyncio.Queue(QUEUED)
        self._channel = await self.layer.new_channel("beach.relay")
        self.bell.relay = self._ring
        self.hub.relay = self._delta
        self._tasks = [asyncio.create_task(work()) for work in (self._read, self._write, self._stay)]

    async def stop(self) -> None:
        """Send what waits, then leave, all of it within a bound."""
        if not self._tasks:
            return
        self.bell.relay = self.hub.relay = None
        # Rings from threads are on their way through the loop.
        await asyncio.sleep(0)
        await self._last("send what was left", self._outgoing.join(), FLUSH_SECONDS)
        # Not the cancellation alone: the client of Redis may take one for a timeout of its own.
        self._stopping = True
        if await end(self._tasks, seconds=END_SECONDS):
            logger.warning("The relay does not let go of Redis; it is left to itself.")
        await self._last("leave", self.layer.group_discard(GROUP, self._channel), LEAVE_SECONDS)

    async def _last(self, what: str, work: Coroutine[Any, Any, Any], seconds: float) -> None:
        try:
            await within(work, seconds=seconds)
        except Unfinished as error:
            logger.warning("The relay could not %s: %s.", what, error)
        except Exception:
            # The other processes do without what was left, and membership runs out.
            logger.exception("The relay could not %s.", what)

    async def _stay(self) -> None:
        while not self._stopping:
            await self._again("join", lambda: self.layer.group_add(GROUP, self._channel), pause=0)
            if not self._stopping:
                await asyncio.sleep(JOIN_SECONDS)

    def _ring(self, session: int, work: bool, news: bool) -> None:
        """From any thread."""
        message = {"type": "ring", "session": session, "work": work, "news": news}
        call_in(self._loop, partial(self._put, message))

    def _delta(self, session: int, delta: Delta) -> None:
        self._put({"type": "delta", "session": session, **delta.as_json()})

    def _put(self, message: JsonObject) -> None:
        if self._outgoing.full():
            logger.warning("The relay is full: a ring is dropped, the others will poll.")
            return
        self._outgoing.put_nowait({**message, "from": self.name})

    async def _write(self) -> None:
        while not self._stopping:
            message = await self._outgoing.get()
            await self._again("send", lambda message=message: self.layer.group_send(GROUP, message))
            self._outgoing.task_done()

    async def _read(self) -> None:
        while not self._stopping:
            message = await self._again("receive", lambda: self.layer.receive(self._channel))
            if message is None or message.get("from") == self.name:
                continue
            if message["type"] == "ring":
                # A process of an earlier release sends no news.
                news = message.get("news", False)
                self.bell.ring(message["session"], work=message["work"], news=news, relayed=True)
            elif message["type"] == "delta":
                delta = Delta(
                    message["live"],
                    message["turn"],
                    message["partType"],
                    message["offset"],
                    message["text"],
                    message.get("partId", ""),
                )
                self.hub.publish(message["session"], delta, relayed=True)

    async def _again(self, what: str, call: Any, *, pause: float = 1) -> Any:
        """One use of the layer. Redis may be away for a while; rows still show by polling meanwhile."""
        try:
            return await call()
        except asyncio.CancelledError:
            raise
        except Exception:
            logger.exception("The relay could not %s; it goes on.", what)
            await asyncio.sleep(pause)
            return None


def relay_for_settings() -> Relay | None:
    """A relay where the channel layer reaches other processes; the in-memory one reaches none."""
    layer = get_channel_layer()
    return None if layer is None or isinstance(layer, InMemoryChannelLayer) else Relay(layer)
