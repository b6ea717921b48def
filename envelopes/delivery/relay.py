"""The relay: rings and streamed text from one process to the others, through the channel layer.

One group for all sessions and one reader a process (a group per session does not scale in the in-memory layer).
Rings carry no data; a lost one costs latency, since processes poll.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from envelopes.delivery.deltas import Delta, DeltaHub, deltas
from envelopes.log.doorbell import Doorbell, doorbell
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

GROUP = "beach.doorbell"
QUEUED = 10_000
JOIN_SECONDS = 5.0
"""How often membership of the group is renewed: it expires, and a Redis that was started anew knows of nobody."""


class Relay:
    """Between this process and the others. Its own messages are known by a random name and ignored."""

    def __init__(self, layer: Any, bell: Doorbell = doorbell, hub: DeltaHub = deltas) -> None:
        self.layer = layer
        self.bell = bell
        self.hub = hub
        self.name = secrets.token_hex(8)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._outgoing: asyncio.Queue[JsonObject] = asyncio.Queue(QUEUED)
        self._channel = await self.layer.new_channel("beach.relay")
        await self._join()
        self.bell.relay = self._ring
        self.hub.relay = self._delta
        self._tasks = [asyncio.create_task(work()) for work in (self._read, self._write, self._stay)]

    async def stop(self) -> None:
        self.bell.relay = self.hub.relay = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._again("leave", lambda: self.layer.group_discard(GROUP, self._channel), pause=0)

    async def _join(self) -> None:
        await self._again("join", lambda: self.layer.group_add(GROUP, self._channel), pause=0)

    async def _stay(self) -> None:
        while True:
            await asyncio.sleep(JOIN_SECONDS)
            await self._join()

    def _ring(self, session: int, work: bool) -> None:
        """From any thread."""
        self._loop.call_soon_threadsafe(self._put, {"type": "ring", "session": session, "work": work})

    def _delta(self, session: int, delta: Delta) -> None:
        self._put({"type": "delta", "session": session, **delta.as_json()})

    def _put(self, message: JsonObject) -> None:
        if self._outgoing.full():
            logger.warning("The relay is full: a ring is dropped, the others will poll.")
            return
        self._outgoing.put_nowait({**message, "from": self.name})

    async def _write(self) -> None:
        while True:
            message = await self._outgoing.get()
            await self._again("send", lambda message=message: self.layer.group_send(GROUP, message))

    async def _read(self) -> None:
        while True:
            message = await self._again("receive", lambda: self.layer.receive(self._channel))
            if message is None or message.get("from") == self.name:
                continue
            if message["type"] == "ring":
                self.bell.ring(message["session"], work=message["work"], relayed=True)
            elif message["type"] == "delta":
                delta = Delta(
                    message["live"], message["turn"], message["partType"], message["offset"], message["text"]
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
