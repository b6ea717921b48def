"""The pull channels of one connection: each polled by a task of its own, which ends with the subscription.

Frames go to this connection only, always in mode replace, and are kept nowhere (reading, 5.6).
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from django.utils import timezone

from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.delivery import AWAY, Changed
from envelopes.errors import Unavailable
from envelopes.peers import rates
from envelopes.protocol.time import instant
from envelopes.tasks import end
from envelopes.transports.live import caps
from envelopes.transports.live.errors import LiveError
from envelopes.transports.live.frames import ChannelSubscribe, ChannelUnsubscribe
from envelopes.transports.live.pulls.polling import PollFailed, Source, poll, source_of
from envelopes.transports.live.pulls.sanitising import sanitised
from envelopes.transports.live.subscribing import Subscription
from envelopes.transports.live.wire import Gone, Wire
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

DEFAULT_MS: Final = 10_000
LEAST_MS: Final = 1_000
MOST_MS: Final = 60_000

END_SECONDS = 5.0
"""How long a poll may take to end."""


def interval(asked: object) -> float:
    """The seconds between two polls: what was asked for, clamped; anything but a number stands for the default."""
    if isinstance(asked, bool) or not isinstance(asked, int | float):
        return DEFAULT_MS / 1000
    return min(MOST_MS, max(LEAST_MS, asked)) / 1000


class Pulls:
    """Those of ``made``, by the name of the channel."""

    def __init__(self, made: Subscription, wire: Wire) -> None:
        self._made, self._wire = made, wire
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, asked: ChannelSubscribe, request: str | None) -> None:
        """Poll the channel from now on, in place of what was asked for before. Raises ``Changed``, ``TooOften``,
        ``Gone``; whatever else is wrong is told by a ``channel_error``."""
        name = asked.channelName
        try:
            self._check(asked)
            await in_session(self._made.session.pk, _begun, self._made, name)
        except LiveError as error:
            await self._refuse(asked, error.code, error.message, request=request)
            return
        await self._end(name)
        self._tasks[name] = task = asyncio.create_task(self._poll(asked))
        task.add_done_callback(lambda done: self._over(name, done))

    def _check(self, asked: ChannelSubscribe) -> None:
        session = self._made.session
        if asked.sessionId != session.public_id or asked.appId != session.actor:
            raise LiveError("SUBSCRIBE_UNAUTHORIZED", "This socket is bound to another session.")
        if asked.channelName not in self._tasks and len(self._tasks) >= conf.BEACH_LIVE_PULLS:
            raise LiveError(
                "RATE_LIMIT_EXCEEDED", f"A connection polls {conf.BEACH_LIVE_PULLS} channels at most."
            )

    async def leave(self, asked: ChannelUnsubscribe) -> None:
        """Poll it no longer; nothing happens for a channel that is not polled."""
        if asked.sessionId == self._made.session.public_id:
            await self._end(asked.channelName)

    async def stop(self) -> None:
        """Nothing comes of them afterwards."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        if await end(tasks, seconds=END_SECONDS):
            logger.warning("A poll of the live channel does not end; it is left to itself.")

    async def _end(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            await end([task], seconds=END_SECONDS)

    def _over(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]

    async def _poll(self, asked: ChannelSubscribe) -> None:
        try:
            seq = 0
            while True:
                seq = await self._once(asked, seq)
                await asyncio.sleep(interval(asked.pollIntervalMs))
        except Gone:
            return
        except Changed:
            await self._wire.end(caps.WHO_NOW)
        except LiveError as error:
            # The contract has changed, or the session is gone: there is nothing to poll any more.
            await self._tell_the_end(asked, error)
        except Exception:
            logger.exception("Polling for the live channel failed.")
            await self._wire.end(caps.LATER)

    async def _once(self, asked: ChannelSubscribe, seq: int) -> int:
        try:
            # Who it is and what may be polled is asked each time: both may have ended.
            source = await in_session(self._made.session.pk, source_of, self._made, asked.channelName)
            payload = await poll(self._made, source, asked.args or {})
        except PollFailed as error:
            await self._refuse(asked, "POLL_FAILED", "The poll failed.", {"reason": sanitised(error.message)})
            return seq
        except AWAY:
            await self._refuse(asked, "POLL_FAILED", "The poll failed.", {"reason": Unavailable().message})
            return seq
        await self._wire.say("channel_payload", self._frame(source, seq + 1, payload))
        return seq + 1

    def _frame(self, source: Source, seq: int, payload: Json) -> JsonObject:
        return {
            "sessionId": self._made.session.public_id,
            "appId": self._made.session.actor,
            "channelName": source.channel,
            "seq": seq,
            "ts": instant(timezone.now()),
            "mode": "replace",
            "payload": payload,
        }

    async def _tell_the_end(self, asked: ChannelSubscribe, error: LiveError) -> None:
        try:
            await self._refuse(asked, error.code, error.message)
        except Gone:
            return

    async def _refuse(
        self,
        asked: ChannelSubscribe,
        code: str,
        message: str,
        details: JsonObject | None = None,
        *,
        request: str | None = None,
    ) -> None:
        told: JsonObject = {
            "sessionId": asked.sessionId,
            "channelName": asked.channelName,
            "code": code,
            "message": message,
            **({"details": details} if details is not None else {}),
        }
        await self._wire.say("channel_error", told, request)


def _begun(made: Subscription, channel: str) -> None:
    peer = made.identity.peer()
    if peer is not None:
        rates.take(peer)
    source_of(made, channel)
