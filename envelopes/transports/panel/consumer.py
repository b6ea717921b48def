"""The panel's socket: reads frames, hands them to intake, and sends the log's frames as they come.

It watches only; turns belong to the runner (design, section 2). Every frame is answered, bad ones with a typed error,
and the socket stays open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

import orjson
from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from envelopes.access import get_session
from envelopes.conf import setting
from envelopes.delivery.deltas import Delta, deltas, place_of
from envelopes.delivery.live import Frame, TooFarBack, resume, views
from envelopes.errors import BeachError, Forbidden, NotFound, ValidationFailed
from envelopes.log.doorbell import doorbell
from envelopes.models import Session, Turn
from envelopes.runtime import intake
from envelopes.runtime.process import ensure_started
from envelopes.transports.panel import frames as wire
from envelopes.transports.panel.identity import current_principal
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

NO_LOGIN, NOT_YOURS, RELOAD = 4401, 4403, 4410

RECHECK_SECONDS = 60.0
"""So long a connection that only listens is believed to be who it was."""


class PanelConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """One connection. ``cursor`` is the last row that this browser has."""

    # No layer: doorbell and deltas bring everything, and a Redis that is away must not close sockets.
    channel_layer_alias = ""
    session: Session
    cursor = 0

    async def connect(self) -> None:
        self._ring = asyncio.Event()
        self._undo: list[Callable[[], None]] = []
        self._pumping: asyncio.Task[None] | None = None
        self._budget = Budget(setting("BEACH_FRAMES_PER_SECOND"))
        self._deltas: list[Delta] = []
        self._over: dict[int, tuple[int, ...]] = {}
        # One speaks at a time: the pump, or the answer to a hello, which starts again from an earlier row.
        self._sending = asyncio.Lock()
        ensure_started()
        await self.accept()
        if (session := await self._admitted()) is not None:
            self.session = session

    async def _admitted(self) -> Session | None:
        """The session, if whoever sits here may see it now; otherwise the connection is closed."""
        self._admitted_at = time.monotonic()
        try:
            return await sync_to_async(self._authorise)()
        except (Forbidden, NotFound) as error:
            logger.info("Refused a socket: %s", error.code)
            await self.close(NO_LOGIN if isinstance(error, Forbidden) else NOT_YOURS, reason=error.message)
        return None

    def _authorise(self) -> Session:
        who = current_principal(self.scope)
        if not who.is_known:
            raise Forbidden("Sign in first.")
        return get_session(who, self.scope["url_route"]["kwargs"]["public_id"])

    async def disconnect(self, code: int) -> None:
        for undo in self._undo:
            undo()
        if self._pumping is not None:
            views.unwatch(self.session.pk)
            self._pumping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pumping

    # -- in -----------------------------------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not hasattr(self, "session"):
            return  # closing: nothing that still arrives has an effect
        frame_id: str | None = None
        try:
            self._budget.spend()
            frame = wire.parse_frame(text_data, bytes_data)
            frame_id = getattr(frame, "id", None)
            match frame:
                case wire.Ping():
                    # Whoever only watches sends nothing else: a login or a right that ended must end this too.
                    if await self._admitted() is not None:
                        await self._say({"type": "pong"})
                case wire.Hello():
                    await self._hello(frame.after)
                case _:
                    answer = await sync_to_async(self._handle)(frame)
                    await self._say({"type": "ack", "id": frame_id, **answer})
        except BeachError as error:
            # The code only: a sentence may speak of what somebody has written.
            logger.info("Refused a frame of session %s: %s", self.session.pk, error.code)
            told = error.as_dict()
            await self._say({**told, "type": "error", "id": frame_id or told.get("id")})
            if isinstance(error, SignedOut):
                await self.close(NO_LOGIN)
            if isinstance(error, TooFarBack):
                await self.close(RELOAD)
        except Exception:
            logger.exception("A frame of session %s failed.", self.session.pk)
            await self._say(
                {
                    "type": "error",
                    "id": frame_id,
                    "code": "internal",
                    "message": "That failed. It has been logged.",
                }
            )

    def _handle(self, frame: wire.ClientFrame) -> JsonObject:
        """Everything with an effect, in the database thread; who asks is looked up anew each time."""
        who = current_principal(self.scope)
        if not who.is_known:
            raise SignedOut
        session = get_session(who, self.session.public_id)
        match frame:
            case wire.Message():
                return intake.post_message(session, who, frame.id, frame.text)
            case wire.Edit():
                return intake.post_edit(session, who, frame.id, frame.target, frame.value)
            case wire.Action():
                return intake.post_action(session, who, frame.id, frame.target)
            case wire.Show():
                return intake.post_show(session, who, frame.id, frame.target)
            case wire.Stop():
                return intake.stop(session, who, frame.id)
            case wire.Decide():
                return intake.post_decision(
                    session, who, frame.id, frame.approval, frame.decision, reason=frame.reason
                )
            case _:
                raise ValidationFailed("That is not a type of frame.")

    # -- out ----------------------------------------------------------------------------------------------------

    async def _hello(self, after: int) -> None:
        """Listen first, then read the log, then follow: nothing that is appended meanwhile is missed."""
        if self._pumping is None:
            views.watch(self.session.pk)
            self._undo = [
                doorbell.listen(self.session.pk, self._ring.set),
                deltas.subscribe(self.session.pk, self._on_delta),
            ]
            self._pumping = asyncio.create_task(self._pump())
        async with self._sending:
            self.cursor = after
            await self._catch_up()
            seq, busy, live, self._over = await sync_to_async(self._state)()
            await self._say({"type": "welcome", "seq": seq, "busy": busy})
            for frame in live:
                await self._say(frame)

    async def _pump(self) -> None:
        while True:
            await self._ring.wait()
            self._ring.clear()
            try:
                late = time.monotonic() - self._admitted_at > RECHECK_SECONDS
                # Pings do this too; but a client that never sends any must not go on listening.
                if late and await self._admitted() is None:
                    return
                async with self._sending:
                    await self._catch_up()
            except asyncio.CancelledError:
                raise
            except TooFarBack:
                await self.close(RELOAD)
                return
            except Exception:
                # The browser asks again when it notices the gap; the socket must not die of it.
                logger.exception("Sending to session %s failed.", self.session.pk)

    async def _catch_up(self) -> None:
        """Send streamed text and new rows, in the order in which they were made.

        A row was read after everything that streamed before it here had been queued, so that goes first; what has no
        place yet waits for the row that makes one, unless that row has ended it too.
        """
        frames = [frame for frame in await sync_to_async(self._frames)() if frame.seq > self.cursor]
        early = await self._send_deltas()
        for frame in frames:
            await self.send(text_data=frame.payload)
            self.cursor = frame.seq
            self._over[frame.turn] = max(frame.over, self._over.get(frame.turn, ()))
        self._deltas[:0] = early
        await self._send_deltas()

    def _frames(self) -> list[Frame]:
        with views.open(self.session) as view:
            kept = view.frames_after(self.cursor)
        if kept is not None:
            return kept
        self.session.refresh_from_db(fields=["last_seq"])
        return resume(self.session, self.cursor)

    def _state(self) -> tuple[int, bool, list[JsonObject], dict[int, tuple[int, ...]]]:
        """What a browser that has just connected needs besides rows: is something at work, what streams now, what of
        it is over."""
        with views.open(self.session) as view:
            live = []
            for turn in Turn.objects.filter(session=self.session, status="running"):
                into = view.thread.container(turn.number)
                for key, bubble in turn.live.items():
                    if into:
                        live.append(
                            _delta_frame(Delta(key, turn.number, bubble["partType"], 0, bubble["text"]), into)
                        )
            return view.sent, view.thread.busy, live, dict(view.over)

    def _on_delta(self, delta: Delta) -> None:
        self._deltas.append(delta)
        self._ring.set()

    async def _send_deltas(self) -> list[Delta]:
        """Send what has streamed and is not over; returns what has no place on the page yet."""
        pending, self._deltas = self._deltas, []
        homeless = []
        for delta in pending:
            if place_of(delta.live) <= self._over.get(delta.turn, (-1,)):
                continue
            into = views.container(self.session.pk, delta.turn)
            if into:
                await self._say(_delta_frame(delta, into))
            else:
                homeless.append(delta)
        return homeless

    async def _say(self, frame: JsonObject) -> None:
        await self.send(text_data=orjson.dumps(frame).decode())


def _delta_frame(delta: Delta, into: str) -> JsonObject:
    return {"type": "delta", "into": into, **delta.as_json()}


class SignedOut(Forbidden):
    """You are signed out. Sign in again to go on."""


class Budget:
    """How many frames a connection may send: ``rate`` a second, with a burst of two seconds' worth."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.clock = clock
        self.left = rate * 2
        self.at = clock()

    def spend(self) -> None:
        """Raises ``TooFast``."""
        now = self.clock()
        self.left = min(self.rate * 2, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            raise TooFast(limit="BEACH_FRAMES_PER_SECOND", allowed=self.rate)
        self.left -= 1


class TooFast(BeachError):
    """Too many messages at once. Wait a moment and send again."""

    code = "too_fast"
    fault = "client"
