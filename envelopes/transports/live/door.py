"""One connection of the live channel: frames in, one after the other, and what a subscription sends.

It watches only; turns belong to the runner. Every frame is answered as the reading says, bad ones with an error, and a
frame that fails stops none of those that follow it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Any

from envelopes.conf import conf
from envelopes.database_threads import beside_sessions, in_session, read_beside_sessions
from envelopes.delivery import AWAY, Changed, NotInLog
from envelopes.errors import BeachError, Forbidden, TooOften
from envelopes.quotas import Quota
from envelopes.runtime.process import ensure_started
from envelopes.session_state import TooFarBack
from envelopes.transports import at_once
from envelopes.transports.budget import Budget
from envelopes.transports.live import actions, caps, frames, ledger
from envelopes.transports.live.caps import Close, pending
from envelopes.transports.live.errors import LiveError, payload_of
from envelopes.transports.live.following import Following
from envelopes.transports.live.identity import Identity, identify
from envelopes.transports.live.pulls import Pulls
from envelopes.transports.live.refusals import refusal
from envelopes.transports.live.states import CLOSED, PENDING, SUBSCRIBED, SUBSCRIBING, State
from envelopes.transports.live.subscribing import Subscription, admit, begin, ledger_cursor
from envelopes.transports.live.wire import Gone, Wire

logger = logging.getLogger(__name__)


SOCKETS = Quota("subscriptions of the live channel", "BEACH_SOCKETS_PER_CALLER")


class LiveDoor:
    """An ASGI connection."""

    def __init__(self, scope: Any, receive: Any, send: Any) -> None:
        self._scope, self._receive = scope, receive
        self._state = State()
        self._wire = Wire(send, self._state, at_once.offered(scope))
        self._identity: Identity | None = None
        self._subscription: Subscription | None = None
        self._following: Following | None = None
        self._pulls: Pulls | None = None
        self._leave_room: Callable[[], None] = _nothing
        self._budget = Budget(conf.BEACH_FRAMES_PER_SECOND)
        # By what repeats of a client are known that does not say who it is.
        self._instance = secrets.token_hex(8)
        self._logged: set[str] = set()
        self._is_pending = False
        self._idle: asyncio.TimerHandle | None = None

    async def run(self) -> None:
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
            await self._wire.accept()
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
        await self._wait_for_subscription()

    async def _wait_for_subscription(self) -> None:
        """It counts as one that has subscribed to nothing, and has some time for that, from here on."""
        if not self._is_pending:
            if not pending.enter():
                await self._close(caps.LATER)
                return
            self._is_pending = True
        if self._idle is None and conf.BEACH_LIVE_PENDING_SECONDS:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(conf.BEACH_LIVE_PENDING_SECONDS, self._is_idle)

    def _is_idle(self) -> None:
        self._idle = None
        if self._state.now == PENDING:
            self._ending = asyncio.ensure_future(self._end_idle())

    async def _end_idle(self) -> None:
        await self._wire.end(caps.IDLE)
        self._settle_in()

    async def _take(self, text: str | None) -> None:
        if self._state.now == CLOSED or self._identity is None:
            return
        if self._state.now == PENDING and caps.too_big(text):
            await self._close(caps.TOO_BIG)
            return
        request: str | None = None
        self._wire.answering = True
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
        finally:
            self._wire.answering = False

    async def _refuse(self, error: Exception, request: str | None) -> None:
        match error:
            case Changed():
                await self._close(caps.WHO_NOW)
                return
            case NotInLog() | TooFarBack():
                await self._close(caps.BEGIN_AGAIN)
                return
            case _:
                told = refusal(error, self._logged)
        await self._wire.say("error", told, request)
        if told["code"] == "UPGRADE_REQUIRED" and told.get("policy") == "reject":
            await self._close(caps.ENDED)

    async def _answer(self, payload: object, request: str | None) -> None:
        match payload:
            case frames.Ping():
                if self._following is not None:
                    # Whoever only watches sends nothing else: a right that ended must end this too.
                    await self._following.check()
                await self._wire.say("pong", {}, request)
            case frames.Subscribe():
                await self._subscribe(payload, request)
            case frames.Action():
                await self._act(payload, request)
            case frames.HostContextObserved():
                await self._observe(payload)
            case frames.ChannelSubscribe():
                await self._pull(payload, request)
            case frames.ChannelUnsubscribe():
                if self._pulls is not None:
                    await self._pulls.leave(payload)

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
            self._leave_room = SOCKETS.take(admitted.who.key or "")
            made, ack = await in_session(admitted.session.pk, begin, admitted, asked)
        except BaseException:
            self._leave_room()
            self._state.go(PENDING)
            await self._wait_for_subscription()
            raise
        self._identity, self._subscription = made.identity, made
        self._state.go(SUBSCRIBED)
        self._settle_in()
        await self._wire.say("ack", ack, request)
        await self._replay_ledger(made, request)
        self._following = Following(made, ack["session"], self._wire)

    async def _replay_ledger(self, made: Subscription, request: str | None) -> None:
        if made.since is None:
            return
        try:
            since = ledger_cursor(made.since)
            ledger.check(since, made.plan.row)
        except LiveError as error:
            await self._wire.say("error", payload_of(error), request)
            return
        while since < made.plan.row:
            page, since = await in_session(
                made.session.pk, ledger.page_after, made.session, since, made.plan.row, made.wants
            )
            for event in page:
                await self._wire.say("render_event", event)

    async def _act(self, action: frames.Action, request: str | None) -> None:
        bound = self._bound
        name = secrets.token_hex(16)
        if action.clientSeq is not None:
            name = f"live.{bound.instance or self._instance}.{action.clientSeq}"
        await self._wire.say("ack", await actions.run(bound, action, name), request)

    async def _observe(self, told: frames.HostContextObserved) -> None:
        bound = self._bound
        if told.sessionId != bound.session.public_id:
            raise LiveError("SESSION_MISMATCH", "This socket is bound to another session.")
        context = told.hostContext.model_dump(exclude_none=True)
        await in_session(bound.session.pk, actions.observe, bound, context)

    async def _pull(self, asked: frames.ChannelSubscribe, request: str | None) -> None:
        bound = self._bound
        if self._pulls is None:
            self._pulls = Pulls(bound, self._wire)
        await self._pulls.begin(asked, request)

    # -- in between ---------------------------------------------------------------------------------------------

    async def _close(self, close: Close) -> None:
        try:
            await self._wire.close(close)
        finally:
            self._settle_in()

    def _settle_in(self) -> None:
        """It counts as one that has subscribed from here on."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._is_pending:
            self._is_pending = False
            pending.leave()

    async def _unbind(self) -> None:
        following, self._following = self._following, None
        pulls, self._pulls = self._pulls, None
        self._subscription = None
        self._leave_room()
        if pulls is not None:
            await pulls.stop()
        if following is not None:
            await following.stop()

    async def _let_go(self) -> None:
        self._settle_in()
        await self._unbind()


def _nothing() -> None:
    """No room was taken."""
