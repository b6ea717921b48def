"""One reader of one log: what every door sends, in the order in which it was made (docs/architecture.md).

A door that only sends loops over ``Follower.follow``. One whose other end may ask again from an earlier row calls
``begin`` for that, and ``ready`` and ``new`` beside it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from functools import partial

from django.db import InterfaceError, OperationalError

from envelopes import tracing
from envelopes.database_threads import in_session
from envelopes.delivery import rules
from envelopes.delivery.catching_up import NotInLog, at_hand, find, news_after
from envelopes.delivery.deltas import Delta, deltas
from envelopes.delivery.items import AtOnce, Check, Item, Seen, UpToDate
from envelopes.delivery.news import Look, News
from envelopes.delivery.streamed import PlacedDelta, StreamedText
from envelopes.delivery.wanted import wanted_by
from envelopes.errors import Unavailable
from envelopes.log.doorbell import doorbell
from envelopes.models import Session
from envelopes.registries.transports import Transport
from envelopes.session_state import Frame, live_sessions

logger = logging.getLogger(__name__)

AWAY = (OperationalError, InterfaceError)
"""The database does not answer, is locked, or let go of a transaction."""

AGAIN_SECONDS = 1.0
"""After how long rows are asked for again that the database did not give."""

RECHECK_SECONDS = 60.0
"""How long a reader that only listens is believed to be who it was."""


class Follower:
    """Follows the log of ``session`` for ``reader``, over ``transport`` and what its presenter makes of rows.

    ``cursor`` is the last row that was handed on. ``check`` raises ``Changed`` when the reader is not who was let in;
    it is asked before anything is handed on, at most every ``recheck_seconds``. Rows that this process has at hand and
    text are offered to ``at_once``, where the door waits in ``ready``. Used inside one event loop; ``close`` when done.
    """

    def __init__(
        self,
        session: Session,
        transport: Transport,
        reader: rules.Reader,
        *,
        check: Check | None = None,
        at_once: AtOnce | None = None,
        recheck_seconds: float = RECHECK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session = session
        self.transport = transport
        self.reader = reader
        self.cursor = 0
        self._check = check
        self._at_once = at_once
        self._recheck_seconds = recheck_seconds
        self._clock = clock
        self._checked_at = clock()
        self._wanted = wanted_by(transport, reader)
        self._text = StreamedText(self._wanted.text)
        self._rung = False
        self._waiting: asyncio.Future[None] | None = None
        self._due = False
        # The row up to which it is due; None while nobody has said which.
        self._upto: int | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._begun = False
        # One speaks at a time: what follows, or a beginning that starts again from an earlier row.
        self._speaking = asyncio.Lock()
        self._undo: list[Callable[[], None]] = []

    # -- for doors ----------------------------------------------------------------------------------------------

    async def follow(self, after: int) -> AsyncGenerator[Item]:
        """Everything after row ``after``, for ever. Raises what ``begin`` and ``new`` do."""
        async with aclosing(self.begin(after)) as items:
            async for item in items:
                yield item
        while True:
            await self.ready()
            async with aclosing(self.new()) as items:
                async for item in items:
                    yield item

    async def begin(self, after: int, mark: int | None = None) -> AsyncGenerator[Item]:
        """Everything after row ``after``, then ``UpToDate``, then the text that streams now from its beginning.

        Raises ``NotInLog`` (ahead of the log, or another ``mark`` there), ``TooFarBack`` (too far behind), ``Changed``
        also for a session that is gone, and what the database raises: then nothing has begun, or goes on as before.
        """
        self._listen()
        if self._begun:
            await self.check()
        async with self._speaking:
            news = await self._read(partial(find, mark=mark), after)
            self._begun = True
            self.cursor = after
            while True:
                for item in self._handed(news.frames):
                    yield item
                if not news.more:
                    break
                news = await self._further(find)
            self._text.read(news.turns)
            yield UpToDate(news.seq, news.busy, news.mark if self.cursor == after else None)
            for text in self._whole(news):
                yield text

    async def ready(self) -> None:
        """Returns when there may be something new, or after ``nudge``."""
        if not self._rung:
            # One waits, and an asyncio.Event has a queue for many: most of what an idle reader would hold.
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        self._rung = False

    def nudge(self) -> None:
        """Let ``ready`` return: the door has something of its own to say."""
        self._rung = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def new(self) -> AsyncGenerator[Item]:
        """What is new, in order. Text alone makes nobody look for rows; but where a reader was behind by so much of it
        that it was left out, all of the text comes again from its beginning.

        Raises ``TooFarBack``, ``Changed`` and ``NotInLog``. Where the database is away, rows are asked for again in a
        while.
        """
        async with self._speaking:
            try:
                await self.check(unless_within=self._recheck_seconds)
                lost = self._text.lost
                if not lost:
                    for text in self._text.take():
                        yield text
                if not (self._due or lost) or self._retry is not None:
                    return
                read = find if lost else partial(news_after, upto=self._upto)
                news = (None if lost else self._at_hand()) or await self._read(read, self.cursor)
                while news.more:
                    for item in self._handed(news.frames, traced=True):
                        yield item
                    news = await self._further(read)
            except AWAY as error:
                logger.warning("Rows of session %s have to wait: %r", self.session.pk, error)
                self._retry = asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._again)
                return
            for item in self._handed(news.frames, traced=True):
                yield item
            self._text.read(news.turns)
            if lost:
                for text in self._whole(news):
                    yield text
            for text in self._text.take():
                yield text

    async def look(self, make: Look) -> AsyncGenerator[Item | Seen]:
        """What is new, then what ``make`` makes of the session just there, so that no update is missed or comes twice.
        Raises ``Unavailable`` before ``begin``, else what ``new`` and ``make`` do."""
        if not self._begun:
            raise Unavailable
        await self.check()
        async with self._speaking:
            read = partial(news_after, make=make)
            news = await self._read(read, self.cursor)
            while True:
                for item in self._handed(news.frames):
                    yield item
                if not news.more:
                    break
                news = await self._further(read)
            self._text.read(news.turns)
            for text in self._text.take():
                yield text
            yield Seen(news.seq, news.busy, news.made)

    async def check(self, *, unless_within: float = 0.0) -> None:
        """Ask whether the reader is still who was let in, unless that was asked in the last ``unless_within`` seconds.
        Raises ``Changed``."""
        if self._check is not None and self._is_check_due(unless_within):
            began = self._clock()
            await self._check()
            self._checked_at = began

    def _is_check_due(self, seconds: float) -> bool:
        return self._check is not None and self._clock() - self._checked_at >= seconds

    def check_written(self, seq: int, *, before: int) -> None:
        """A row has got the number ``seq``, and the reader had row ``before`` already when it was written. Raises
        ``NotInLog`` when the log has been set back; what this process remembers of it is then forgotten."""
        if seq < before:
            live_sessions.forget(self.session.pk)
            raise NotInLog

    def close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        while self._undo:
            self._undo.pop()()

    # -- inside -------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Listen first, then read the log: nothing that is appended meanwhile is missed."""
        if self._undo:
            return
        session = self.session.pk
        live_sessions.watch(session, self.transport.name)
        self._undo = [
            partial(live_sessions.unwatch, session, self.transport.name),
            doorbell.listen(session, self._rang),
            deltas.subscribe(session, self._came),
        ]

    def _rang(self, upto: int | None = None) -> None:
        if not self._undo:
            # It was on its way as this was closed.
            return
        if upto is not None and (upto <= self.cursor or self._has_told_rows(upto)):
            # The poll rings for every session that is new to it.
            return
        if self._due and (upto is None or self._upto is None):
            self._upto = None
        else:
            self._upto = upto if self._upto is None or upto is None else max(self._upto, upto)
        self._due = True
        self._text.due()
        self.nudge()

    def _again(self) -> None:
        self._retry = None
        self._rang()

    def _came(self, delta: Delta) -> None:
        if not self._undo or self._has_told(delta) or not self._text.came(delta):
            return
        if not self._text.knows(delta.turn):
            # The row that began it may have had nothing to show.
            self._due, self._upto = True, None
        self.nudge()

    def _may_tell(self) -> bool:
        """Whether nothing goes before what comes now but text: neither rows nor a check that are due, nor what the door
        is saying."""
        waiting = self._waiting
        return (
            waiting is not None
            and not (waiting.done() or self._due or self._speaking.locked() or self._retry is not None)
            and not self._is_check_due(self._recheck_seconds)
        )

    def _has_told(self, delta: Delta) -> bool:
        """Whether ``delta`` was told at once."""
        if self._at_once is None or not self._may_tell():
            return False
        text = self._text.placed(delta)
        return text is not None and self._tells(self._at_once, text)

    def _has_told_rows(self, upto: int) -> bool:
        """Whether all rows up to ``upto`` were told at once. Those that were, where it is not, are not told again."""
        if self._at_once is None or not (self._text.is_idle and self._may_tell()):
            return False
        if (news := self._glance(upto)) is None or news.more:
            return False
        if not all(self._tells(self._at_once, frame) for frame in self._handed(news.frames, traced=True)):
            return False
        self._text.read(news.turns)
        self._text.take()
        return True

    def _tells(self, tell: AtOnce, item: Frame | PlacedDelta) -> bool:
        try:
            return tell(item)
        except Exception:
            # Whoever writes the row or the text has nothing to do with it.
            logger.exception("Session %s could not be told something at once.", self.session.pk)
            return False

    def _handed(self, frames: Iterable[Frame], *, traced: bool = False) -> Iterable[Frame]:
        """What this reader gets of what was made for everybody. ``traced``: as spans that end as more is asked for."""
        for frame in frames:
            if frame.seq > self.cursor:
                if not frame.part_type or self._wanted.part(frame.part_type, frame.late):
                    yield frame
                    if traced and frame.at is not None:
                        tracing.delivered(self.transport.name, frame.at, frame.seq)
                self.cursor = frame.seq

    def _whole(self, news: News) -> list[PlacedDelta]:
        """The text that streams, from its beginning."""
        self._text.lost = False
        return self._text.whole(news.texts, deltas.told(self.session.pk), news.turns)

    def _at_hand(self) -> News | None:
        """What is due, where this process has it already: it has written it itself, or read it for another reader."""
        news = self._glance(self._upto) if self._upto is not None else None
        if news is not None:
            self._due, self._upto = False, None
            self._text.reading()
        return news

    def _glance(self, upto: int) -> News | None:
        return at_hand(self.session.pk, self.transport.name, self.cursor, upto, self._text.turns)

    async def _further(self, read: Callable[..., News]) -> News:
        """The next page, when the reader has taken one; that may have been a long time."""
        self._due = True
        self._text.failed()
        await self.check(unless_within=self._recheck_seconds)
        return await self._read(read, self.cursor)

    async def _read(self, read: Callable[..., News], after: int) -> News:
        due, self._due, self._upto = self._due, False, None
        self._text.reading()
        try:
            return await in_session(
                self.session.pk, read, self.session, self.transport.name, after, self._text.turns
            )
        except BaseException:
            self._due, self._upto = self._due or due, None
            self._text.failed()
            raise
