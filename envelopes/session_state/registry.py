"""The sessions that this process has at hand: watched ones stay, of the others the last few."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import connection

from envelopes.log.handing import Committed, hand_to
from envelopes.models.session import Session
from envelopes.registries.transports import Transport, transports
from envelopes.session_state import frozen, snapshots
from envelopes.session_state.live import LiveSession
from envelopes.session_state.presented import PresentedSession
from envelopes.session_state.state import SessionState

IDLE_SESSIONS = 64

WRITER = ""
"""In place of a transport: somebody appends again and again, and presents nothing."""

T = TypeVar("T")


class LiveSessions:
    """One ``LiveSession`` for each session that is at hand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[int, LiveSession] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()
        self._watchers: dict[int, Counter[str]] = {}

    @contextmanager
    def open(self, session: Session, *, upto: int | None = None) -> Iterator[SessionState]:
        """The state of ``session``, caught up and locked for the block. Nothing is drawn where nobody presents it.

        A writer knows ``upto`` which row the log goes (``Writer.known_seq``): what is there already is not looked at.
        """
        with self._using(session, lambda live: live.state(upto=upto)) as state:
            yield state

    @contextmanager
    def present(
        self, session: Session, transport: str, *, upto: int | None = None, since: int = 0
    ) -> Iterator[PresentedSession]:
        """``session`` as ``transport`` presents it, caught up (to row ``upto`` at least) and locked for the block.
        ``since``: the row after which frames are of use, where it has to be built.

        Raises ``RegistrationError`` for a transport that is not there or presents nothing.
        """
        with self._using(session, lambda live: live.present(transport, upto=upto, since=since)) as presented:
            yield presented

    @contextmanager
    def look(self, session: Session) -> Iterator[LiveSession]:
        """``session`` itself, caught up and locked for the block: for rows that are to be attempted."""
        with self._using(session, _caught_up) as live:
            yield live

    def take(self, committed: Committed) -> None:
        """Rows that this process has just committed, where somebody watches. Without the database."""
        with self._lock:
            live = self._sessions.get(committed.session_pk)
            watched = committed.session_pk in self._watchers
        if live is not None and watched:
            with live.lock:
                live.take(committed)

    def keep(self, session: Session) -> None:
        """Store what is due of ``session``: for a writer, where there may be no reader who would."""
        with self.look(session):
            pass

    def glance(
        self, session_pk: int, transport: str, upto: int, look: Callable[[PresentedSession], T | None]
    ) -> T | None:
        """What ``look`` makes of the session as ``transport`` presents it, within its lock; None where that cannot be
        had at once, without the database and without waiting, or it does not have row ``upto``. For an event loop; rows
        that are on their way are not in it."""
        with self._lock:
            live = self._sessions.get(session_pk)
        if live is None or not live.lock.acquire(blocking=False):
            return None
        try:
            # Snapshots are made by those who wait anyway.
            shown = live.presented.get(transport) if live.seq >= upto and not live.is_due else None
            return None if shown is None else look(shown)
        finally:
            live.lock.release()

    @contextmanager
    def _using(self, session: Session, get: Callable[[LiveSession], T]) -> Iterator[T]:
        live = self.at_hand(session)
        with live.lock:
            yield get(live)
            # Never by a writer: drawing it up takes long, and a writer holds the session's lock meanwhile. Nor by two
            # at once: what is made anew would take away what the other one has just stored.
            if connection.in_atomic_block or not live.storing.acquire(blocking=False):
                return
            try:
                is_stored = self._has(live)
                due = live.due_snapshots() if is_stored else []
                settled = live.due_frozen(all_of_it=bool(due)) if is_stored else {}
                anew = live.anew.intersection(settled)
                if due and (watched := self._watched(session.pk)):
                    live.drop_all_but(watched)
            except BaseException:
                live.storing.release()
                raise
        # Outside the lock: a writer holds the database's lock while it waits for this one.
        try:
            for name, views in settled.items():
                frozen.store(session.pk, transports[name], views, anew=name in anew)
            if settled:
                with live.lock:
                    live.forget_frozen(settled)
            if due:
                # After what they no longer hold.
                snapshots.store(due)
        finally:
            live.storing.release()

    def _has(self, live: LiveSession) -> bool:
        """Whether it is still the one that is at hand, and not forgotten meanwhile."""
        with self._lock:
            return self._sessions.get(live.session_pk) is live

    def _watched(self, session_pk: int) -> set[str]:
        with self._lock:
            return set(self._watchers.get(session_pk, ()))

    def at_hand(self, session: Session) -> LiveSession:
        """The one ``LiveSession`` of ``session``, as it is: neither locked nor caught up."""
        with self._lock:
            live = self._sessions.get(session.pk)
            if live is None:
                live = self._sessions[session.pk] = LiveSession(session)
            if session.pk not in self._watchers:
                self._rest(session.pk)
            return live

    def check(self, session: Session) -> None:
        """Forget ``session``, just read from the database, if the log is shorter than what was seen of it: a backup may
        have been restored under this process."""
        with self._lock:
            live = self._sessions.get(session.pk)
        if live is None or live.seq <= session.last_seq:
            return
        with live.lock:
            # Most likely it has grown since the session was read.
            session.refresh_from_db(fields=["last_seq"])
            if live.seq > session.last_seq:
                self.forget(session.pk)

    def watch(self, session_pk: int, transport: str) -> None:
        """Somebody follows the session over ``transport``: it stays at hand until ``unwatch``."""
        with self._lock:
            self._watchers.setdefault(session_pk, Counter())[transport] += 1
            self._idle.pop(session_pk, None)

    def unwatch(self, session_pk: int, transport: str) -> None:
        with self._lock:
            watched = self._watchers.get(session_pk)
            if watched is None:
                return
            watched[transport] -= 1
            if watched[transport] <= 0:
                del watched[transport]
            if not watched:
                del self._watchers[session_pk]
                if session_pk in self._sessions:
                    self._rest(session_pk)

    def forget_stored(self, session: Session, transport: Transport) -> None:
        """Let what ``transport`` presents be made again from the first row on, by whoever asks next; whoever stores
        something of it just now has done so before."""
        live = self.at_hand(session)
        with live.storing:
            snapshots.forget(session.pk, transport)
            frozen.forget(session.pk, transport)
            self.forget(session.pk)

    def forget(self, session_pk: int) -> None:
        with self._lock:
            self._sessions.pop(session_pk, None)
            self._idle.pop(session_pk, None)

    def clear(self) -> None:
        with self._lock:
            self._sessions.clear()
            self._idle.clear()
            self._watchers.clear()

    def _rest(self, session_pk: int) -> None:
        """Nobody watches it: it is the last to go of those."""
        self._idle[session_pk] = None
        self._idle.move_to_end(session_pk)
        while len(self._idle) > IDLE_SESSIONS:
            gone, _ = self._idle.popitem(last=False)
            self._sessions.pop(gone, None)


def _caught_up(live: LiveSession) -> LiveSession:
    live.state()
    return live


live_sessions = LiveSessions()
"""The sessions of this process."""

hand_to(live_sessions.take)
