"""One connection of the live channel: frames in, one after the other, and what a subscription sends.

It watches only; turns belong to the runner. Every frame is answered as the reading says, bad ones with an error, and a
frame that fails stops none of those that follow it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

from envelopes.conf import conf
from envelopes.database_threads import beside_sessions, in_session, read_beside_sessions
from envelopes.delivery import AWAY, Changed, Follower, Item, NotInLog
from envelopes.errors import BeachError, Forbidden, TooOften
from envelopes.runtime.process import ensure_started
from envelopes.session_state import TooFarBack
from envelopes.tasks import end
from envelopes.transports.budget import Budget
from envelopes.transports.live import actions, caps, frames, ledger
from envelopes.transports.live.caps import Close
from envelopes.transports.live.errors import LiveError, payload_of
from envelopes.transports.live.identity import Identity, identify, still
from envelopes.transports.live.refusals import refusal
from envelopes.transports.live.states import CLOSED, PENDING, SUBSCRIBED, SUBSCRIBING, State
from envelopes.transports.live.subscribing import Subscription, admit, begin, ledger_cursor
from envelopes.transports.live.tail import Tail
from envelopes.transports.live.transport import LIVE

logger = logging.getLogger(__name__)

RECHECK_SECONDS = 30.0
"""How long whoever only listens is believed to be who they were."""

PUMP_SECONDS = 5.0
"""How long the pump may take to end; it may wait for the database."""


class Gone(Exception):
    """Nobody is at the other end any more."""


class LiveDoor:
    """An ASGI connection."""

    def __init__(self, scope: Any, receive: Any, send: Any) -> None:
        self._scope, self._receive, self._deliver = scope, receive, send
        self._state = State()
        self._identity: Identity | None = None
        self._subscription: Subscription | None = None
        self._follower: Follower | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._budget = Budget(conf.BEACH_FRAMES_PER_SECOND)
        # By what repeats of a client are known that does not say who it is.
        self._instance = secrets.token_hex(8)
        self._place = caps.Place(self._is_idle)
        self._task: asyncio.Task[Any] | None = None

    async def run(self) -> None:
        self._task = asyncio.current_task()
        try:
            while True:
                message = await self._receive()
                match message["type"]:
                    case "websocket.connect":
                        await self._connect()
                    case "websocket.receive":
                        await self._take(message.get("text"))
                    case _:
                        return
        except Gone:
            return
        finally:
            # However it ends: a send may fail, a server may cancel what takes it too long.
            await self._let_go()

    # -- in -----------------------------------------------------------------------------------------------------

    async def _connect(self) -> None:
        ensure_started()
        identifying = asyncio.ensure_future(read_beside_sessions(identify, self._scope))
        try:
            # Also whoever is refused: a browser does not hear why a handshake failed, only why a connection ended.
            await self._send_raw({"type": "websocket.accept"})
        except BaseException:
            identifying.cancel()
            raise
        try:
            self._identity = await identifying
        except (Forbidden, LiveError) as error:
            await self._close(Close(caps.NO_LOGIN.code, error.message[:120]))
            return
        except (TooOften, *AWAY) as error:
            logger.info("Refused a live channel: %r", error)
            await self._close(caps.LATER)
            return
        if not self._place.take():
            await self._close(caps.LATER)

    def _is_idle(self) -> None:
        if self._state.now == PENDING:
            self._closing = asyncio.ensure_future(self._end(caps.IDLE))

    async def _take(self, text: str | None) -> None:
        if self._state.now == CLOSED or self._identity is None:
            return
        if self._state.now == PENDING and caps.too_big(text):
            await self._close(caps.TOO_BIG)
            return
        request: str | None = None
        try:
            try:
                self._budget.spend()
                frame = frames.parse(text)
            except BeachError:
                request = frames.request_id(text)
                raise
            request = frame.requestId
            self._state.admit(frame.type)
            await self._answer(frames.payload(frame), request)
        except Gone:
            raise
        except Exception as error:  # noqa: BLE001 - answered, and logged where nobody expected it
            await self._refuse(error, request)

    async def _refuse(self, error: Exception, request: str | None) -> None:
        match error:
            case Changed():
                await self._close(caps.WHO_NOW)
                return
            case NotInLog() | TooFarBack():
                await self._close(caps.BEGIN_AGAIN)
                return
            case _:
                told = refusal(error)
        await self._say("error", told, request)
        if told["code"] == "UPGRADE_REQUIRED" and told.get("policy") == "reject":
            await self._close(caps.ENDED)

    async def _answer(self, payload: object, request: str | None) -> None:
        match payload:
            case frames.Ping():
                if self._follower is not None:
                    # Whoever only watches sends nothing else: a right that ended must end this too.
                    await self._follower.check(unless_within=RECHECK_SECONDS)
                await self._say("pong", {}, request)
            case frames.Subscribe():
                await self._subscribe(payload, request)
            case frames.Action():
                await self._act(payload, request)
            case frames.HostContextObserved():
                await self._observe(payload)
            case frames.ChannelSubscribe():
                await self._channel_subscribe(payload, request)
            case frames.ChannelUnsubscribe():
                return

    @property
    def _bound(self) -> Subscription:
        if self._subscription is None:
            raise LiveError("NOT_SUBSCRIBED", "Subscribe to a session first.")
        return self._subscription

    async def _subscribe(self, asked: frames.Subscribe, request: str | None) -> None:
        if self._identity is None:
            raise LiveError("UNAUTHENTICATED", "Nobody is signed in.")
        if self._state.now == SUBSCRIBED:
            await self._unbind()
        self._state.go(SUBSCRIBING)
        try:
            admitted = await beside_sessions(admit, self._identity, asked)
            made = await in_session(admitted.session.pk, begin, admitted, asked)
        except BaseException:
            self._state.go(PENDING)
            if not self._place.take():
                self._closing = asyncio.ensure_future(self._end(caps.LATER))
            raise
        self._identity, self._subscription = made.identity, made
        self._state.go(SUBSCRIBED)
        self._place.leave()
        await self._say("ack", made.ack, request)
        await self._replay_ledger(made, request)
        check = partial(_check, made)
        self._follower = Follower(
            made.session, LIVE, made.reader, check=check, recheck_seconds=RECHECK_SECONDS
        )
        self._pumping = asyncio.create_task(self._pump(self._follower, Tail(made)))

    async def _replay_ledger(self, made: Subscription, request: str | None) -> None:
        if made.since is None:
            return
        try:
            since = ledger_cursor(made.since)
            ledger.check(since, made.plan.row)
        except LiveError as error:
            await self._say("error", payload_of(error), request)
            return
        while since < made.plan.row:
            page, since = await in_session(
                made.session.pk, ledger.page_after, made.session, since, made.plan.row, made.wants
            )
            for event in page:
                await self._say("render_event", event)

    async def _act(self, action: frames.Action, request: str | None) -> None:
        bound = self._bound
        name = secrets.token_hex(16)
        if action.clientSeq is not None:
            name = f"live.{bound.instance or self._instance}.{action.clientSeq}"
        await self._say("ack", await actions.run(bound, action, name), request)

    async def _observe(self, told: frames.HostContextObserved) -> None:
        bound = self._bound
        if told.sessionId != bound.session.public_id:
            raise LiveError("SESSION_MISMATCH", "This socket is bound to another session.")
        context = told.hostContext.model_dump(exclude_none=True)
        await in_session(bound.session.pk, actions.observe, bound, context)

    async def _channel_subscribe(self, asked: frames.ChannelSubscribe, request: str | None) -> None:
        bound = self._bound
        code, message = "CHANNEL_NOT_LOCAL", "No tool of this server feeds channels."
        if asked.sessionId != bound.session.public_id:
            code, message = "SUBSCRIBE_UNAUTHORIZED", "This socket is bound to another session."
        told = {
            "sessionId": asked.sessionId,
            "channelName": asked.channelName,
            "code": code,
            "message": message,
        }
        await self._say("channel_error", told, request)

    # -- out ----------------------------------------------------------------------------------------------------

    async def _pump(self, follower: Follower, tail: Tail) -> None:
        try:
            for text in tail.early():
                await self._send(text)
            await self._speak(follower.begin(self._bound.plan.after), tail)
            while True:
                await follower.ready()
                await self._speak(follower.new(), tail)
        except Gone:
            return
        except Changed:
            await self._end(caps.WHO_NOW)
        except (NotInLog, TooFarBack):
            await self._end(caps.BEGIN_AGAIN)
        except Exception as error:
            if not isinstance(error, AWAY):
                logger.exception("Sending on the live channel failed.")
            # Whoever subscribes again goes on after the last delivery that they have.
            await self._end(caps.LATER)

    async def _speak(self, items: AsyncGenerator[Item], tail: Tail) -> None:
        async with aclosing(items):
            async for item in items:
                for text in tail.told(item):
                    await self._send(text)

    async def _say(self, kind: str, payload: Any, request: str | None = None) -> None:
        await self._send(frames.frame(kind, payload, request))

    async def _send(self, text: str) -> None:
        # As ``_send_raw``, less a call for each frame.
        if self._state.now == CLOSED:
            raise Gone
        try:
            await self._deliver({"type": "websocket.send", "text": text})
        except Exception as error:
            raise _gone(error) from error

    async def _send_raw(self, message: Any) -> None:
        if self._state.now == CLOSED:
            raise Gone
        try:
            await self._deliver(message)
        except Exception as error:
            raise _gone(error) from error

    async def _close(self, close: Close) -> None:
        """What still arrives has no effect and no answer."""
        if self._state.now == CLOSED:
            return
        message = {"type": "websocket.close", "code": close.code, "reason": close.reason}
        try:
            await self._send_raw(message)
        finally:
            self._state.go(CLOSED)
            self._place.leave()

    async def _end(self, close: Close) -> None:
        """Close from beside the frames."""
        try:
            await self._close(close)
        except Gone:
            return

    # -- in between ---------------------------------------------------------------------------------------------

    async def _unbind(self) -> None:
        follower, self._follower = self._follower, None
        pumping, self._pumping = self._pumping, None
        self._subscription = None
        if follower is not None:
            follower.close()
        if pumping is not None and await end([pumping], seconds=PUMP_SECONDS):
            logger.warning("A live channel still waits for the database.")

    async def _let_go(self) -> None:
        self._place.leave()
        await self._unbind()


def _gone(error: Exception) -> Gone:
    # Servers differ in what they raise when the other end has gone.
    logger.info("A live channel was gone as something was sent to it: %r", error)
    return Gone()


async def _check(made: Subscription) -> None:
    await in_session(made.session.pk, still, made.identity, made.key, made.session.public_id)
