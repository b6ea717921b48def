"""The panel's socket: reads frames, hands them to intake, and sends the log's frames as they come.

It watches only; turns belong to the runner (design, section 2). Every frame is answered, bad ones with a typed error,
and the socket stays open.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import InterfaceError, OperationalError

from envelopes.conf import setting
from envelopes.delivery.deltas import Delta, deltas, place_of
from envelopes.delivery.listing import listing
from envelopes.delivery.live import Frame, TooFarBack, resume, views
from envelopes.errors import BeachError, Forbidden, NotFound, Unavailable, ValidationFailed
from envelopes.log.doorbell import doorbell
from envelopes.models import Session, Turn
from envelopes.runtime import intake
from envelopes.runtime.process import ensure_started
from envelopes.tasks import end
from envelopes.transports.panel import frames as wire
from envelopes.transports.panel.budget import Budget
from envelopes.transports.panel.identity import Admission, Changed, actor_of, admit, recheck
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

NO_LOGIN, NOT_YOURS, RELOAD, WHO_NOW = 4401, 4403, 4410, 4411
"""The first two are final and said at the handshake only: what an open connection loses may come back with the cookies
that the browser has by now."""

LATER = 1013
"""Try again later, of the IANA registry of close codes."""

AWAY = (OperationalError, InterfaceError)
"""The database does not answer, is locked, or let go of a transaction."""

RECHECK_SECONDS = 60.0
"""So long a connection that only listens is believed to be who it was."""

AGAIN_SECONDS = 1.0
"""After how long rows are asked for again that the database did not give."""

PUMP_SECONDS = 5.0
"""How long the pump may take to end; it may wait for the database."""


class Gone(Exception):
    """Nobody is at the other end any more."""


class NotInLog(BeachError):
    """This page shows more than the server has. Load it again."""

    code = "not_in_log"
    fault = "us"


class PanelConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """One connection. ``cursor`` is the last row that this browser has."""

    # No layer: doorbell and deltas bring everything, and a Redis that is away must not close sockets.
    channel_layer_alias = ""
    session: Session
    cursor = 0

    def __init__(self) -> None:
        super().__init__()
        self._admission: Admission | None = None
        self._ring = asyncio.Event()
        self._undo: list[Callable[[], None]] = []
        self._pumping: asyncio.Task[None] | None = None
        self._budget = Budget(setting("BEACH_FRAMES_PER_SECOND"))
        self._deltas: list[Delta] = []
        self._over: dict[int, tuple[int, ...]] = {}
        self._relist = False
        # One speaks at a time: the pump, or the answer to a hello, which starts again from an earlier row.
        self._sending = asyncio.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def deliver(message: Any) -> None:
            try:
                await send(message)
            except Exception as error:
                # Servers differ in what they raise when the other end has gone.
                logger.info("A socket was gone as something was sent to it: %r", error)
                raise Gone from error

        try:
            await super().__call__(scope, receive, deliver)
        finally:
            # However it ends: a send may fail, a server may cancel what takes it too long.
            await self._let_go()

    async def dispatch(self, message: Any) -> None:
        try:
            await super().dispatch(message)
        except Gone:
            raise StopConsumer from None

    async def connect(self) -> None:
        ensure_started()
        await self.accept()
        self._admitted_at = time.monotonic()
        try:
            self._admission = await sync_to_async(admit)(self.scope)
        except (Forbidden, NotFound) as error:
            logger.info("Refused a socket: %s", error.code)
            await self.close(NO_LOGIN if isinstance(error, Forbidden) else NOT_YOURS, reason=error.message)
        except AWAY as error:
            logger.warning("A socket has to come again later: %r", error)
            await self.close(LATER, reason=Unavailable().message)
        else:
            self.session = self._admission.session

    async def _recheck(self) -> None:
        """Raises ``Changed``."""
        if self._admission is not None:
            await sync_to_async(recheck)(self.scope, self._admission)
            self._admitted_at = time.monotonic()

    async def _leave(self, code: int, reason: str) -> None:
        """Close; what still arrives has no effect and no answer."""
        self._admission = None
        await self.close(code, reason=reason)

    async def _let_go(self) -> None:
        undo, self._undo = self._undo, []
        for one in undo:
            one()
        if self._pumping is not None and await end([self._pumping], seconds=PUMP_SECONDS):
            logger.warning("A socket of session %s still waits for the database.", self.session.pk)

    # -- in -----------------------------------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self._admission is None:
            return
        frame: wire.ClientFrame | None = None

        async def refuse(error: BeachError) -> None:
            told = error.as_dict()
            name = getattr(frame, "id", None) or told.get("id") or wire.readable_id(text_data)
            await self._say({**told, "type": "error", "id": name, "retry": error.passing})

        try:
            self._budget.spend()
            frame = wire.parse_frame(text_data, bytes_data)
            await self._answer(frame, self._admission)
        except Gone:
            raise
        except Changed:
            await self._leave(WHO_NOW, "Who you are, or what you may do here, has changed.")
        except AWAY as error:
            logger.warning("A frame of session %s has to come again: %r", self.session.pk, error)
            await refuse(Unavailable())
        except NotInLog as error:
            # No frame before it: a hello that is refused is made again.
            await self._leave(RELOAD, error.message)
        except TooFarBack as error:
            await refuse(error)
            await self._leave(RELOAD, error.message)
        except BeachError as error:
            # The code only: a sentence may speak of what somebody has written.
            logger.info("Refused a frame of session %s: %s", self.session.pk, error.code)
            await refuse(error)
        except Exception:
            logger.exception("A frame of session %s failed.", self.session.pk)
            await refuse(Internal())

    async def _answer(self, frame: wire.ClientFrame, admission: Admission) -> None:
        match frame:
            case wire.Ping():
                # Whoever only watches sends nothing else: a login or a right that ended must end this too.
                await self._recheck()
                await self._say({"type": "pong"})
            case wire.Hello():
                await self._hello(frame.after)
            case _:
                before = self.cursor
                answer = await sync_to_async(self._handle)(frame, admission)
                await self._say({"type": "ack", "id": frame.id, **answer})
                if answer.get("seq", before) < before and not answer.get("repeated"):
                    views.forget(self.session.pk)
                    raise NotInLog

    def _handle(self, frame: wire.ClientFrame, admission: Admission) -> JsonObject:
        """Everything with an effect, in the database thread; who asks is looked up anew each time."""
        who, session = actor_of(self.scope, admission)
        try:
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
        except Forbidden as error:
            if admission.owns:
                # An owner may do all of this: it is the owner that has changed.
                raise Changed from error
            raise

    # -- out ----------------------------------------------------------------------------------------------------

    async def _hello(self, after: int) -> None:
        """Listen first, then read the log, then follow: nothing that is appended meanwhile is missed."""
        if self._pumping is None:
            views.watch(self.session.pk)
            self._undo = [
                lambda: views.unwatch(self.session.pk),
                doorbell.listen(self.session.pk, self._ring.set),
                deltas.subscribe(self.session.pk, self._on_delta),
                listing.watch(self._key, self.session.pk, self._on_listing),
            ]
            self._pumping = asyncio.create_task(self._pump())
        else:
            await self._recheck()
        async with self._sending:
            await sync_to_async(self._find)(after)
            self.cursor = after
            await self._catch_up()
            seq, busy, live, self._over = await sync_to_async(self._state)()
            now = time.time_ns() // 1_000_000
            await self._say({"type": "welcome", "seq": seq, "busy": busy, "now": now})
            for frame in live:
                await self._say(frame)

    @property
    def _key(self) -> str:
        return self._admission.key if self._admission is not None else ""

    def _find(self, after: int) -> None:
        """Raises ``Changed`` for a session that is gone, ``NotInLog`` for a row that is not there: the log of a database that was restored may be shorter than
        what a page shows, and than what this process has seen of it."""
        try:
            self.session.refresh_from_db(fields=["last_seq"])
        except Session.DoesNotExist as error:
            raise Changed from error
        views.check(self.session)
        if after > self.session.last_seq:
            raise NotInLog

    async def _pump(self) -> None:
        while True:
            await self._ring.wait()
            self._ring.clear()
            try:
                # Pings do this too; but a client that never sends any must not go on listening.
                if time.monotonic() - self._admitted_at > RECHECK_SECONDS:
                    await self._recheck()
                async with self._sending:
                    await self._catch_up()
                    await self._tell_of_list()
            except Gone:
                return
            except Changed:
                await self._end(WHO_NOW, "Who you are, or what you may do here, has changed.")
                return
            except (TooFarBack, NotInLog) as error:
                await self._end(RELOAD, error.message)
                return
            except AWAY as error:
                logger.warning("Rows of session %s have to wait: %r", self.session.pk, error)
                await asyncio.sleep(AGAIN_SECONDS)
                self._ring.set()
            except Exception:
                # The browser asks again when it notices the gap; the socket must not die of it.
                logger.exception("Sending to session %s failed.", self.session.pk)

    async def _end(self, code: int, reason: str) -> None:
        """Close from the pump, which nobody listens to."""
        try:
            await self._leave(code, reason)
        except Gone:
            return

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

    def _on_listing(self) -> None:
        self._relist = True
        self._ring.set()

    async def _tell_of_list(self) -> None:
        if self._relist:
            self._relist = False
            await self._say({"type": "sessions"})

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


class Internal(BeachError):
    """That failed. It has been logged."""

    code = "internal"
