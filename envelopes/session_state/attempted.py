"""Rows that are tried on the surfaces of this process first, and stored if the log still is where they were tried."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time

from django.utils import timezone

from envelopes.database_threads import in_session
from envelopes.log.append import JobFence, OwnerFence, TurnFence
from envelopes.log.backends.port import Append, Behind, ClientRequest, Stored
from envelopes.log.commits import committer
from envelopes.log.new_row import NewRow
from envelopes.log.reading import reader_for
from envelopes.models.session import Session
from envelopes.session_state.live import LiveSession
from envelopes.session_state.pending import Pending
from envelopes.session_state.registry import live_sessions

TRIES = 3
"""So often others may be quicker before the general way is taken, which waits for its turn."""

LONG_SECONDS = 0.004
"""What takes longer than this to try, in time of the processor, is tried in a thread the next time."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """An append whose rows the surfaces have taken, and the log has not."""

    live: LiveSession
    pending: Pending
    append: Append

    async def stored(self) -> Stored:
        """Hand it over; returns when the log has the rows, and this process shows them where nobody came between.

        Raises what ``Committer.append`` does: then the surfaces are as before. Whoever is cancelled has handed it over.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        try:
            told = committer.append(self.append)
        except BaseException:
            self.live.dropped(self.pending)
            raise
        # Before whoever waits, and before those for whom the bell rings.
        told.add_done_callback(partial(self._told, done))
        await done
        return told.result()

    def _told(self, done: asyncio.Future[None], told: asyncio.Future[Stored]) -> None:
        try:
            if told.cancelled() or told.exception() is not None:
                self.live.dropped(self.pending)
            else:
                self.live.landed(self.pending, told.result())
        finally:
            # After those for whom the bell rings: what is said next by whoever waits here stands behind these rows.
            done.get_loop().call_soon(_set, done)


def _set(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


Try = Callable[[LiveSession], Attempted | None]
"""Tries rows on a session that is free, under its lock; None, with nothing changed, where they cannot go this way."""


def attempt(
    live: LiveSession,
    fence: TurnFence | JobFence | OwnerFence,
    new: Sequence[NewRow],
    request: ClientRequest | None = None,
) -> Attempted | None:
    """Try ``new`` where ``live`` is, under its lock. None when a surface refuses one of them.

    Exactly what others will read is tried, whatever the database makes of it.
    """
    seq, now, read = live.seq, timezone.now(), reader_for()
    rows = [row.numbered(seq + place, now, read(row.text)) for place, row in enumerate(new, 1)]
    pending = live.attempt(rows)
    if pending is None:
        return None
    return Attempted(live, pending, Append(live.session_pk, fence, new, seq, request))


async def store_attempted(session: Session, at_once: Try, in_thread: Try) -> Stored | None:
    """Store what ``at_once`` tries in the event loop or, where the session has to be caught up first, ``in_thread`` in
    the database's. None, with nothing done, where it has to go the general way.

    Within ``LiveSession.writers()``. Raises what ``Committer.append`` does, but for ``Behind``. Whoever is cancelled
    meanwhile has handed the rows over.
    """
    if live_sessions.at_hand(session).is_due:
        await in_session(session.pk, live_sessions.keep, session)
    is_behind = False
    for _ in range(TRIES):
        # Only in the thread are the rows of others read.
        tried = None if is_behind else _at_once(live_sessions.at_hand(session), at_once)
        if tried is None:
            tried = await in_session(session.pk, _in_thread, session, in_thread)
        if tried is None:
            return None
        try:
            return await tried.stored()
        except Behind:
            is_behind = True
    return None


def _at_once(live: LiveSession, attempt: Try) -> Attempted | None:
    if live.is_slow or not live.lock.acquire(blocking=False):
        return None
    try:
        return _timed(live, attempt) if live.is_free else None
    finally:
        live.lock.release()


def _in_thread(session: Session, attempt: Try) -> Attempted | None:
    with live_sessions.look(session) as live:
        return _timed(live, attempt)


def _timed(live: LiveSession, attempt: Try) -> Attempted | None:
    began = thread_time()
    tried = attempt(live)
    live.is_slow = thread_time() - began > LONG_SECONDS
    return tried
