"""One session in this process: its state, and whoever presents it, at the same row."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from a2ui import SurfaceChange, SurfaceSet
from envelopes.log.backends.port import Stored
from envelopes.log.handing import Committed
from envelopes.log.read import rows_after
from envelopes.models.session import Session
from envelopes.models.snapshot import SURFACES, Snapshot
from envelopes.models.turn import Turn
from envelopes.protocol.rows import Row
from envelopes.registries.transports import Freezing, Frozen, SessionFacts, Transport, transports
from envelopes.session_state import frozen, snapshots
from envelopes.session_state.engines import engine_for
from envelopes.session_state.pending import Pending
from envelopes.session_state.presented import PresentedSession
from envelopes.session_state.snapshots import Kept
from envelopes.session_state.state import SessionState

logger = logging.getLogger(__name__)


_NONE: frozenset[str] = frozenset()

SAY_NOTHING_OF_TURNS = frozenset({"edit", "show"})
"""Kinds of rows beside which nothing of a turn changes."""


class LiveSession:
    """The state of a session and its presenters move together: one apply a row.

    Whoever uses one holds ``lock``; whoever stores what is due of it, ``storing``. ``saved`` is the row of the last
    snapshot. ``known`` are turns, by key, as they are at row ``seq``: whoever has them now. ``is_slow``: to try rows on
    it took long the last time. ``anew`` names transports whose snapshot could not be read: what their presenters let go
    of now takes the place of what is stored. ``memory``: what others keep of the log, each by its type.
    """

    def __init__(self, session: Session) -> None:
        self.lock = threading.RLock()
        self.storing = threading.Lock()
        self.session_pk = session.pk
        self.facts = SessionFacts(session.public_id, session.locale, session.timezone)
        self.presented: dict[str, PresentedSession] = {}
        self.saved = 0
        self.known: dict[int, Turn] = {}
        self.is_slow = False
        self.anew = _NONE
        self.memory: dict[type, object] = {}
        self._state: SessionState | None = None
        self._pending: Pending | None = None
        self._writers: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    @property
    def seq(self) -> int:
        """The last row that was taken in; 0 before any was asked for."""
        return self._state.seq if self._state is not None else 0

    def state(self, *, upto: int | None = None) -> SessionState:
        """The state with all rows that are in the database (up to ``upto``), and with none that is not."""
        self._settle()
        if self._state is None:
            kept = snapshots.newest(self.session_pk, upto=upto)
            self._state = self._restored(kept) if kept is not None else self._new_state()
            self.saved = self._state.seq
        self._catch_up(self._state, upto)
        return self._state

    def present(self, transport: str, *, upto: int | None = None, since: int = 0) -> PresentedSession:
        """The session as ``transport`` presents it, with all rows that are in the database (up to ``upto``).

        Of rows that have to be read again for that, only the frames after row ``since`` are kept: all of them are the
        whole conversation once more.

        One that comes later is built from the log, and with it the state: only who has seen every row knows what pages
        have. Raises ``RegistrationError`` for a transport that is not there or presents nothing.
        """
        if self._state is not None:
            upto = self.state(upto=upto).seq
        if transport not in self.presented:
            self._present(transports[transport], upto, since)
        return self.presented[transport]

    def _present(self, transport: Transport, upto: int | None, since: int) -> None:
        made = self._presented(transport, snapshots.newest(self.session_pk, transport, upto=upto))
        start = made.state.seq
        for row in rows_after(self.session_pk, start, upto=upto):
            changes = made.state.apply(row)
            if row.audience == "delivered":
                made.take(row, changes)
        made.keep_frames(since)
        # Pages come back, and most only show what they did.
        made.state.surfaces.rest()
        self.saved = start if self._state is None else min(self.saved, start)
        self._state = made.state
        self.known.clear()
        for other in self.presented.values():
            other.state = made.state
        self.presented[transport.name] = made

    def begin(self, transport: Transport, kept: Kept | None) -> None:
        """Stand at what is ``kept``, or before the first row: for whoever moves on from there."""
        made = self._presented(transport, kept)
        self._state = made.state
        self.presented[transport.name] = made

    def _presented(self, transport: Transport, kept: Kept | None) -> PresentedSession:
        if kept is not None and kept.presenter is not None:
            try:
                state = self._new_state(kept, shown=True)
                presenter = transport.present(self.facts, kept.presenter["presenter"])
                return PresentedSession(state, transport, presenter, sent=kept.presenter["sent"])
            except Exception:
                # Part of it came from code that is there no longer. The log has all of it.
                logger.exception(
                    "A snapshot of session %s for %s cannot be read.", self.session_pk, transport.name
                )
                self.anew |= {transport.name}
        return PresentedSession(self._new_state(shown=True), transport, transport.present(self.facts))

    def _restored(self, kept: Kept) -> SessionState:
        try:
            return self._new_state(kept)
        except Exception:
            logger.exception("A snapshot of session %s cannot be read.", self.session_pk)
            return self._new_state()

    def _new_state(self, kept: Kept | None = None, *, shown: bool = False) -> SessionState:
        engine = engine_for(self.facts.locale, self.facts.timezone)
        if kept is None:
            return SessionState(self.session_pk, engine, shown=shown)
        return SessionState(self.session_pk, engine, seq=kept.seq, surfaces=kept.surfaces, shown=shown)

    def _catch_up(self, state: SessionState, upto: int | None) -> None:
        if upto is None or upto > state.seq:
            self._take_in(state, rows_after(self.session_pk, state.seq, upto=upto))

    def take(self, committed: Committed) -> None:
        """Take in rows that are in the log by now, if they follow what is here: else they are read when somebody
        asks."""
        self._settle()
        if self._state is not None and committed.first == self._state.seq + 1:
            self._take_in(self._state, committed.rows())

    def _take_in(self, state: SessionState, rows: Iterable[Row]) -> None:
        try:
            for row in rows:
                if row.kind not in SAY_NOTHING_OF_TURNS:
                    self.known.clear()
                changes = state.apply(row)
                if row.audience == "delivered":
                    self._tell(row, changes)
        except BaseException:
            self._start_over()
            raise

    def _start_over(self) -> None:
        """Half applied: the next one starts from the log again."""
        self._state = self._pending = None
        self.presented.clear()
        self.known.clear()

    def _tell(self, row: Row, changes: Sequence[SurfaceChange]) -> None:
        for name, presented in list(self.presented.items()):
            try:
                presented.take(row, changes)
            except Exception:
                # The others go on. Who asks for this one again has it built from the log, and hears what fails there.
                logger.exception("Row %s of session %s, for %s", row.seq, self.session_pk, name)
                del self.presented[name]

    # -- rows on their way ------------------------------------------------------------------------------------------

    def writers(self) -> asyncio.Lock:
        """For those of the running loop that want to append: one after the other, or each would find itself behind."""
        loop = asyncio.get_running_loop()
        if self._writers is None or self._writers[0] is not loop:
            self._writers = loop, asyncio.Lock()
        return self._writers[1]

    @property
    def is_free(self) -> bool:
        """Whether ``attempt`` may be called: the state is there, and nothing is on its way."""
        return self._state is not None and self._pending is None

    @property
    def surfaces(self) -> SurfaceSet:
        """The surfaces at row ``seq``; raises RuntimeError unless ``is_free``."""
        if self._state is None or self._pending is not None:
            raise RuntimeError("There are none yet, or others are on their way.")
        return self._state.surfaces

    def attempt(self, rows: Sequence[Row]) -> Pending | None:
        """Take in ``rows`` before the log has them, numbered on from ``seq``: until ``landed`` or ``dropped``, or until
        somebody asks for the state. Returns None, with nothing changed, when a surface refuses one of them, or when
        calls of agents' functions come or go with them: those are stored beside the rows."""
        state = self._state
        if state is None or self._pending is not None:
            raise RuntimeError("There is nothing to try them on, or others are on their way.")
        attempt = state.surfaces.attempt()
        pending = self._pending_calls(state)
        try:
            changes = []
            for row in rows:
                refused, changed = state.enter(row)
                if refused:
                    attempt.undo()
                    return None
                changes.append(changed)
            if pending is not None and self._calls_change(state, pending):
                attempt.undo()
                return None
        except BaseException:
            self._start_over()
            raise
        self._pending = Pending(state.seq, rows, changes, attempt)
        return self._pending

    @staticmethod
    def _pending_calls(state: SessionState) -> set[str] | None:
        """The calls that wait for an answer; None where no surface can make any."""
        if not state.engine.catalogs.asks_agents or all(one.calls is None for one in state.surfaces):
            return None
        return set(state.surfaces.calls.pending())

    @staticmethod
    def _calls_change(state: SessionState, pending: set[str]) -> bool:
        # What nobody shows is not drawn, and only what is drawn says what it calls.
        calls = state.surfaces.calls
        return not state.shown or set(calls.pending()) != pending or bool(calls.due())

    def landed(self, pending: Pending, stored: Stored) -> None:
        """The log has the rows. Called without the lock, from wherever that became known; waits for nobody."""
        pending.stored = stored
        self._settle_if_free(pending)

    def dropped(self, pending: Pending) -> None:
        """The log has not got the rows, as far as is known. As ``landed``."""
        self._settle_if_free(pending)

    def _settle_if_free(self, pending: Pending) -> None:
        # Whoever has the lock either settles it as they come or came before it was made, and the next one will.
        if self.lock.acquire(blocking=False):
            try:
                if self._pending is pending:
                    self._settle()
            finally:
                self.lock.release()

    def _settle(self) -> None:
        """Keep rows that are in the log by now; undo what is not known to be: the log has it when it is read."""
        pending, state = self._pending, self._state
        if pending is None or state is None:
            return
        self._pending = None
        try:
            if pending.stored is None:
                pending.attempt.undo()
                return
            rows = [replace(row, at=pending.stored.at) for row in pending.rows]
            if len(rows) > 1 and any(one.sees_surfaces for one in self.presented.values()):
                # They were tried together, and who looks at surfaces has to see them after each row, as others do.
                pending.attempt.undo()
                for row in rows:
                    changes = state.apply(row)
                    if row.audience == "delivered":
                        self._tell(row, changes)
                return
            pending.attempt.keep()
            for row, changes in zip(rows, pending.changes, strict=True):
                state.seq = row.seq
                if row.audience == "delivered":
                    self._tell(row, changes)
        except BaseException:
            self._start_over()
            raise

    # -- keeping --------------------------------------------------------------------------------------------------

    @property
    def is_due(self) -> bool:
        """Whether enough rows have passed since the last snapshot."""
        return snapshots.is_due(self.seq, self.saved)

    def due_snapshots(self) -> list[Snapshot]:
        """What is to be stored, when enough rows have passed since the last time."""
        state = self._state
        if state is None or self._pending is not None or not self.is_due:
            return []
        self.saved = state.seq
        return self._snapshots()

    def _snapshots(self) -> list[Snapshot]:
        """The surfaces and what each presenter knows, as they are now."""
        state = self.state(upto=self.seq)
        made = [self._snapshot(SURFACES, snapshots.SNAPSHOT_VERSION, state.surfaces.snapshot())]
        for name, presented in self.presented.items():
            data = {"sent": presented.sent, "presenter": presented.presenter.snapshot()}
            made.append(self._snapshot(name, presented.transport.snapshot_version, data))
        return made

    def _snapshot(self, transport: str, version: int, data: object) -> Snapshot:
        return Snapshot(
            session_id=self.session_pk, seq=self.seq, transport=transport, version=version, data=data
        )

    def due_frozen(self, *, all_of_it: bool) -> dict[str, list[Frozen]]:
        """What presenters have let go of and is to be stored: ``all_of_it``, or what has become much."""
        least = 1 if all_of_it else frozen.STORED_AT_ONCE
        return {
            name: list(presenter.frozen.values())
            for name, presenter in self._freezing()
            if name in self.anew or len(presenter.frozen) >= least
        }

    def forget_frozen(self, stored: Mapping[str, Iterable[Frozen]]) -> None:
        self.anew = self.anew.difference(stored) or _NONE
        for name, presenter in self._freezing():
            presenter.forget_frozen((view.number, view.name) for view in stored.get(name, ()))

    def _freezing(self) -> Iterator[tuple[str, Freezing]]:
        for name, presented in self.presented.items():
            presenter: object = presented.presenter
            if isinstance(presenter, Freezing):
                yield name, presenter

    def drop_all_but(self, names: Collection[str]) -> None:
        """Presenters that nobody watches go."""
        for name in set(self.presented).difference(names):
            del self.presented[name]
