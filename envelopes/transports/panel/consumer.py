"""The panel's socket: reads frames, hands them to intake, and sends the log's frames as they come.

It watches only; turns belong to the runner (design, section 2). Every frame is answered, bad ones with a typed error,
and the socket stays open.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import InterfaceError, OperationalError

from envelopes.conf import setting
from envelopes.delivery.live import TooFarBack, views
from envelopes.errors import BeachError, Forbidden, NotFound, Unavailable, ValidationFailed
from envelopes.models import Session
from envelopes.runtime import intake
from envelopes.runtime.process import ensure_started
from envelopes.tasks import end
from envelopes.transports.panel import frames as wire
from envelopes.transports.panel.budget import Budget
from envelopes.transports.panel.feed import Feed, NotInLog
from envelopes.transports.panel.identity import Admission, Changed, actor_of, admit, recheck
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

NO_LOGIN, NOT_YOURS, RELOAD, WHO_NOW = 4401, 4403, 4410, 4411
"""The first two are final and said at the handshake only: what an open connection loses may come back with the cookies
that the browser has by now."""

NOT_AS_ADMITTED = "Who you are, or what you may do here, has changed."

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


class PanelConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """One connection."""

    # No layer: doorbell and deltas bring everything, and a Redis that is away must not close sockets.
    channel_layer_alias = ""
    session: Session

    def __init__(self) -> None:
        super().__init__()
        self._admission: Admission | None = None
        self._feed: Feed | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._budget = Budget(setting("BEACH_FRAMES_PER_SECOND"))
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
            self._feed = Feed(self.session, self._deliver)

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
        if self._feed is not None:
            self._feed.close()
        if self._pumping is not None and await end([self._pumping], seconds=PUMP_SECONDS):
            logger.warning("A socket of session %s still waits for the database.", self.session.pk)

    # -- in -----------------------------------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        admission, feed = self._admission, self._feed
        if admission is None or feed is None:
            return
        frame: wire.ClientFrame | None = None

        async def refuse(error: BeachError) -> None:
            told = error.as_dict()
            name = getattr(frame, "id", None) or told.get("id") or wire.readable_id(text_data)
            await self._say({**told, "type": "error", "id": name, "retry": error.passing})

        try:
            self._budget.spend()
            frame = wire.parse_frame(text_data, bytes_data)
            await self._answer(frame, admission, feed)
        except Gone:
            raise
        except Changed:
            await self._leave(WHO_NOW, NOT_AS_ADMITTED)
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

    async def _answer(self, frame: wire.ClientFrame, admission: Admission, feed: Feed) -> None:
        match frame:
            case wire.Ping():
                # Whoever only watches sends nothing else: a login or a right that ended must end this too.
                await self._recheck()
                await self._say({"type": "pong"})
            case wire.Hello():
                await self._hello(feed, admission, frame.after)
            case _:
                before = feed.cursor
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

    async def _hello(self, feed: Feed, admission: Admission, after: int) -> None:
        """Listen first, then read the log, then follow: nothing that is appended meanwhile is missed."""
        if self._pumping is None:
            feed.listen(admission.key)
        else:
            await self._recheck()
        async with self._sending:
            await feed.start(after)
        if self._pumping is None:
            # Not before it is known where to begin: a hello that failed is made again.
            self._pumping = asyncio.create_task(self._pump(feed))

    async def _pump(self, feed: Feed) -> None:
        while True:
            await feed.ring.wait()
            feed.ring.clear()
            try:
                # Pings do this too; but a client that never sends any must not go on listening.
                if time.monotonic() - self._admitted_at > RECHECK_SECONDS:
                    await self._recheck()
                async with self._sending:
                    await feed.catch_up()
            except Gone:
                return
            except Changed:
                await self._end(WHO_NOW, NOT_AS_ADMITTED)
                return
            except TooFarBack as error:
                await self._end(RELOAD, error.message)
                return
            except AWAY as error:
                logger.warning("Rows of session %s have to wait: %r", self.session.pk, error)
                await asyncio.sleep(AGAIN_SECONDS)
                feed.ring.set()
            except Exception:
                # The browser asks again when it notices the gap; the socket must not die of it.
                logger.exception("Sending to session %s failed.", self.session.pk)

    async def _end(self, code: int, reason: str) -> None:
        """Close from the pump, which nobody listens to."""
        try:
            await self._leave(code, reason)
        except Gone:
            return

    async def _say(self, frame: JsonObject) -> None:
        await self._deliver(orjson.dumps(frame).decode())

    async def _deliver(self, text: str) -> None:
        await self.send(text_data=text)


class Internal(BeachError):
    """That failed. It has been logged."""

    code = "internal"
