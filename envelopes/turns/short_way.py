"""The short way of parts into the log, for what is said again and again: a job that fills a surface.

They are tried on the session's own surfaces, from the event loop and without a look at the database, and stored with
whatever else is on its way, if the log still is where they were tried. Whoever asks for the session meanwhile undoes
that. Whatever cannot go this way goes the general one (``turns.emitting``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from envelopes.log.append import JobFence, TurnFence
from envelopes.log.new_row import NewRow
from envelopes.models import Session, Turn
from envelopes.protocol.parts import Part
from envelopes.registries.statuses import TurnStatus
from envelopes.session_state import WRITER, Attempted, LiveSession, attempt, live_sessions, store_attempted
from envelopes.turns.emitting import holder_of
from envelopes.turns.late import brings_new
from envelopes.turns.parts import needs_database, part_row
from envelopes.turns.stamping import stamped
from envelopes.turns.templates import may_cover


class ShortWay:
    """For the parts of one call of ``turn``, as long as it runs. ``close`` when done."""

    def __init__(self, session: Session, turn: Turn, fence: TurnFence | JobFence) -> None:
        self._session = session
        self._turn_pk, self._actor = turn.pk, turn.actor
        self._fence = fence
        live_sessions.watch(session.pk, WRITER)

    def close(self) -> None:
        live_sessions.unwatch(self._session.pk, WRITER)

    @property
    def live(self) -> LiveSession:
        return live_sessions.at_hand(self._session)

    async def append(self, parts: Sequence[Part]) -> bool:
        """Store ``parts``, in one transaction; False, with nothing done, where they have to go the general way.

        Within ``live.writers()``. Raises what ``store_attempted`` does. Whoever is cancelled meanwhile has handed
        them over.
        """
        if not parts or needs_database(parts):
            return False
        stored = await store_attempted(
            self._session, partial(self._at_once, parts), partial(self._in_thread, parts)
        )
        return stored is not None

    def _at_once(self, parts: Sequence[Part], live: LiveSession) -> Attempted | None:
        turn = live.known.get(self._turn_pk)
        return self._tried(live, turn, parts) if turn is not None else None

    def _in_thread(self, parts: Sequence[Part], live: LiveSession) -> Attempted | None:
        # Read after the rows: what has changed since then has a row that is not there yet.
        turn = live.known[self._turn_pk] = holder_of(self._turn_pk)
        return self._tried(live, turn, parts)

    def _tried(self, live: LiveSession, turn: Turn, parts: Sequence[Part]) -> Attempted | None:
        parts = [stamped(part, self._actor) for part in parts]
        if turn.status == TurnStatus.SETTLED and brings_new(live.surfaces, parts, self._actor):
            return None
        if any(may_cover(live.surfaces, part) for part in parts):
            return None
        rows = [NewRow("part", **part_row(turn, part, actor=self._actor)) for part in parts]
        return attempt(live, self._fence, rows)
