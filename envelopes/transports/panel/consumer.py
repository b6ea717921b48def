"""The panel's socket: reads frames, hands them to intake, and sends the log's frames as they come.

It watches only; turns belong to the runner (design, section 2). Every frame is answered, bad ones with a typed error,
and the socket stays open.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import orjson
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer

from envelopes.conf import conf
from envelopes.database_threads import in_session, read_beside_sessions
from envelopes.delivery.catching_up import Changed, NotInLog
from envelopes.delivery.follower import AWAY, RECHECK_SECONDS, Follower
from envelopes.delivery.items import AtOnce, Item, Seen
from envelopes.delivery.listing import listing
from envelopes.delivery.news import Look
from envelopes.delivery.streamed import PlacedDelta
from envelopes.errors import BeachError, Unavailable
from envelopes.models import Session
from envelopes.quotas import Quota
from envelopes.runtime.process import ensure_started
from envelopes.session_state import Frame
from envelopes.tasks import end
from envelopes.transports import at_once
from envelopes.transports.budget import Budget
from envelopes.transports.panel import asked, closing, commands, earlier
from envelopes.transports.panel import frames as wire
from envelopes.transports.panel.drawings import Drawings, drawings_of
from envelopes.transports.panel.identity import Admission, admit, recheck, slim
from envelopes.transports.panel.patience import Patience
from envelopes.transports.panel.presenter.window import Lost
from envelopes.transports.panel.reader import READER
from envelopes.transports.panel.transport import PANEL
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

PING_SECONDS = 30.0
"""How long a ping is answered without asking again. Pages send one after 20 seconds of silence, so that one that only
listens hears within ``RECHECK_SECONDS`` that a login has ended, whether or not anything happens meanwhile."""

HANDSHAKES = Patience(1.0)
"""How long handshakes wait for the database."""

SOCKETS = Quota("pages", "BEACH_SOCKETS_PER_CALLER")
"""Of this process, by the key of who was let in."""

PUMP_SECONDS = 5.0
"""How long the pump may take to end; it may wait for the database."""


_NONE: frozenset[str] = frozenset()


class Disconnected(Exception):
    """Nobody is at the other end any more."""


class PanelConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """One connection."""

    session: Session
    _drawings: Drawings

    def __init__(self) -> None:
        super().__init__()
        self._admission: Admission | None = None
        self._follower: Follower | None = None
        self._logged = _NONE
        self._pumping: asyncio.Task[None] | None = None
        self._budget = Budget(conf.BEACH_FRAMES_PER_SECOND)
        self._unlist: Callable[[], None] | None = None
        self._relist = False
        # Rows that a frame of the page causes come behind its answer.
        self._answering = False
        self._leave_room: Callable[[], None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # Not as Channels does: it has a task, and a queue, for each source of messages, and there is only one.
        self.scope, self._deliver = scope, send
        try:
            while True:
                await self.dispatch(await receive())
        except StopConsumer:
            pass
        finally:
            # However it ends: a send may fail, a server may cancel what takes it too long.
            await self._let_go()

    async def base_send(self, message: Any) -> None:
        """Where Channels sends to."""
        try:
            await self._deliver(message)
        except Exception as error:
            # Servers differ in what they raise when the other end has gone.
            logger.info("A socket was gone as something was sent to it: %r", error)
            raise Disconnected from error

    async def dispatch(self, message: Any) -> None:
        """As Channels does, without going to the database's thread for each message: who needs the database goes."""
        try:
            match message["type"]:
                case "websocket.connect":
                    await self.connect()
                case "websocket.receive":
                    await self.receive(message.get("text"), message.get("bytes"))
                case _:
                    raise StopConsumer
        except Disconnected:
            raise StopConsumer from None

    async def connect(self) -> None:
        """Whoever waits to be let in waits for the handshake, but not for long: servers have only so many handshakes
        under way, and a browser gives one up."""
        ensure_started()
        admission = read_beside_sessions(admit, self.scope)
        try:
            await HANDSHAKES.wait(admission)
            # Also whoever is refused: a browser does not hear why a handshake failed, only why a connection ended.
            await self.accept()
        except BaseException:
            admission.cancel()
            raise
        try:
            admitted = await admission
            self._leave_room = SOCKETS.take(admitted.key)
        except Exception as error:
            refused = closing.refused(error)
            if refused is None:
                raise
            away = refused.code == closing.LATER
            logger.log(
                logging.WARNING if away else logging.INFO, "Refused a socket (%d): %r", refused.code, error
            )
            await self.close(refused.code, reason=refused.reason)
            return
        self._admission = admitted
        slim(self.scope)
        self.session = self._admission.session
        self._drawings = drawings_of(self.session)
        self._follower = Follower(
            self.session,
            PANEL,
            READER,
            check=self._recheck,
            at_once=self._at_once(),
            recheck_seconds=RECHECK_SECONDS,
        )

    def _at_once(self) -> AtOnce | None:
        drawings, send = self._drawings, at_once.offered(self.scope)
        if send is None:
            return None

        def tell(item: Frame | PlacedDelta) -> bool:
            if isinstance(item, Frame) and (self._answering or asked.asks(item)):
                return False
            frame = drawings.frame_at_once(item)
            return frame is not None and send(frame)

        return tell

    async def _recheck(self) -> None:
        """Raises ``Changed``."""
        if self._admission is not None:
            await in_session(self.session.pk, recheck, self.scope, self._admission)

    async def _leave(self, close: closing.Close) -> None:
        """Close; what still arrives has no effect and no answer."""
        self._admission = None
        await self.close(close.code, reason=close.reason)

    async def _let_go(self) -> None:
        # All of these know the consumer: what it is done with would wait for the garbage collector.
        unlist, self._unlist = self._unlist, None
        follower, self._follower = self._follower, None
        pumping, self._pumping = self._pumping, None
        leave_room, self._leave_room = self._leave_room, None
        if leave_room is not None:
            leave_room()
        if unlist is not None:
            unlist()
        if follower is not None:
            follower.close()
        if pumping is not None and await end([pumping], seconds=PUMP_SECONDS):
            logger.warning("A socket of session %s still waits for the database.", self.session.pk)

    # -- in -----------------------------------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        admission, follower = self._admission, self._follower
        if admission is None or follower is None:
            return
        frame: wire.ClientFrame | None = None
        self._answering = True
        try:
            self._budget.spend()
            frame = wire.parse_frame(text_data, bytes_data)
            await self._answer(frame, admission, follower)
        except Disconnected:
            raise
        except Exception as error:  # noqa: BLE001 - answered, and logged where nobody expected it
            await self._refuse(error, frame, text_data)
        finally:
            self._answering = False

    async def _refuse(self, error: Exception, frame: wire.ClientFrame | None, text_data: str | None) -> None:
        # Not where it was caught: that frame is in its traceback, and with a variable for the error would be a circle,
        # of which whoever is refused a lot makes thousands between two searches of the garbage collector.
        refusal = self._refusal(error)
        if refusal is not None:
            told = refusal.as_dict()
            name = getattr(frame, "id", None) or told.get("id") or wire.readable_id(text_data)
            await self._say({**told, "type": "error", "id": name, "retry": refusal.passing})
        close = closing.ended(error)
        if close is not None:
            await self._leave(close)

    def _refusal(self, error: Exception) -> BeachError | None:
        """What answers a frame that failed with ``error``; None where the close says it all."""
        match error:
            case Changed() | NotInLog():
                # A hello that is refused is made again.
                return None
            case BeachError():
                # The code only: a sentence may speak of what somebody has written.
                # Once: whoever sends many bad frames fills nobody's log.
                if error.code not in self._logged:
                    self._logged |= {error.code}
                    logger.info("Refused a frame of session %s: %s", self.session.pk, error.code)
                return error
            case _ if isinstance(error, AWAY):
                logger.warning("A frame of session %s has to come again: %r", self.session.pk, error)
                return Unavailable()
            case _:
                logger.error("A frame of session %s failed.", self.session.pk, exc_info=error)
                return Internal()

    async def _answer(self, frame: wire.ClientFrame, admission: Admission, follower: Follower) -> None:
        match frame:
            case wire.Ping():
                # Whoever only watches sends nothing else: a login or a right that ended must end this too.
                await follower.check(unless_within=PING_SECONDS)
                await self._say({"type": "pong"})
            case wire.Hello():
                await self._hello(follower, admission, frame)
            case wire.Show(gap=(above, below, name)):
                await self._more(follower, frame, partial(earlier.page, after=above, before=below, name=name))
            case _:
                before = follower.cursor
                answer = await commands.run(self.scope, admission, frame)
                await self._say({"type": "ack", "id": frame.id, **answer})
                if "seq" in answer and not answer.get("repeated"):
                    follower.check_written(answer["seq"], before=before)

    # -- out ----------------------------------------------------------------------------------------------------

    async def _hello(self, follower: Follower, admission: Admission, frame: wire.Hello) -> None:
        if self._unlist is None:
            self._unlist = listing.watch(admission.key, self.session.pk, self._on_listing)
        await self._speak(follower.begin(frame.after, frame.mark))
        if self._pumping is None:
            # Not before it is known where to begin: a hello that failed is made again.
            self._pumping = asyncio.create_task(self._pump(follower))

    async def _pump(self, follower: Follower) -> None:
        while True:
            await follower.ready()
            try:
                await self._speak(follower.new())
                if self._relist:
                    self._relist = False
                    await self._say({"type": "sessions"})
            except Disconnected:
                return
            except Exception as error:
                close = closing.ended(error)
                if close is None:
                    # The browser asks again when it notices the gap; the socket must not die of it.
                    logger.exception("Sending to session %s failed.", self.session.pk)
                    continue
                await self._end(close)
                return

    async def _end(self, close: closing.Close) -> None:
        """Close from the pump, which nobody listens to."""
        try:
            await self._leave(close)
        except Disconnected:
            return

    async def _more(self, follower: Follower, frame: wire.Show, make: Look, *, again: bool = True) -> None:
        try:
            async with aclosing(follower.look(make)) as items:
                async for item in items:
                    if isinstance(item, Seen):
                        await self._send(wire.more(frame, item))
                    else:
                        await self._send(await self._drawings.frame(item))
        except Lost:
            if not again:
                raise
            await in_session(self.session.pk, earlier.forget, self.session)
            await self._more(follower, frame, make, again=False)

    async def _speak(self, items: AsyncGenerator[Item]) -> None:
        async with aclosing(items):
            async for item in items:
                await self._send(await self._drawings.frame(item))
                if asked.asks(item) and self._admission is not None:
                    asked.tell(self.scope, self._admission)

    async def _say(self, frame: JsonObject) -> None:
        await self._send(orjson.dumps(frame).decode())

    async def _send(self, text: str) -> None:
        # What Channels does with it, less three calls a frame.
        await self.base_send({"type": "websocket.send", "text": text})

    def _on_listing(self) -> None:
        self._relist = True
        if self._follower is not None:
            self._follower.nudge()


class Internal(BeachError):
    """That failed. It has been logged."""

    code = "internal"
