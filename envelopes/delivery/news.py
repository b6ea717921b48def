"""What a follower reads at once: rows, how things stand with the last of them, and what its door makes of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, FilteredRelation, OuterRef, Q, QuerySet, Subquery

from envelopes.delivery.deltas import Delta
from envelopes.delivery.streamed import NOWHERE, Standing
from envelopes.models import Event, Session, Turn
from envelopes.prepared import Prepared
from envelopes.protocol.marks import mark_of
from envelopes.registries.statuses import BUSY, TurnStatus
from envelopes.session_state import Frame, PresentedSession
from envelopes.types import JsonObject

Look = Callable[[PresentedSession], Any]


@dataclass(slots=True)
class News:
    """``turns``: by number, where their text belongs at row ``seq``. ``texts`` streams then; ``made`` is the door's.
    ``more``: ``frames`` are a page, and nothing else is said before the last one. ``mark``: that of the row
    behind which they begin, where a reader begins there."""

    frames: list[Frame]
    turns: dict[int, Standing]
    seq: int
    busy: bool
    texts: list[Delta]
    made: Any = None
    more: bool = False
    mark: int | None = None


@dataclass(frozen=True, slots=True)
class LogAt:
    """A session as the database has it. ``mark``: that of the row that was asked about, None where there is none.
    ``running``: the number of the turn that runs and its bubbles, by name. ``is_at_rest``: its last row is the one that
    was asked about, and no agent is at work or will be without anybody doing anything."""

    last_seq: int
    mark: int | None
    running: tuple[int, JsonObject] | None
    is_at_rest: bool

    @property
    def texts(self) -> list[Delta]:
        """What is being written, from its beginning. Where one actor has asked another, it stands in the turn of the
        first."""
        number, bubbles = self.running or (0, {})
        return [Delta.saved(live, bubble.get("turn", number), bubble) for live, bubble in bubbles.items()]


def log_at(session_pk: int, after: int) -> LogAt | None:
    """The session with this primary key, for a reader that has row ``after``, in one statement; None if it is gone."""
    row = _LOG_AT.first(session_pk, after)
    if row is None:
        return None
    last_seq, at, number, bubbles, is_at_rest = row
    running = (number, bubbles) if number is not None else None
    return LogAt(last_seq, None if at is None else mark_of(at), running, is_at_rest)


def _log_at(session_pk: int, after: int) -> QuerySet[Any, Any]:
    # At most one runs.
    running = FilteredRelation("turns", condition=Q(turns__status=TurnStatus.RUNNING))
    at_work = Turn.objects.filter(session=OuterRef("pk"), status__in=BUSY)
    there = Event.objects.filter(session=OuterRef("pk"), seq=after).values("at")
    found = Session.objects.filter(pk=session_pk).annotate(
        there=Subquery(there), running=running, at_rest=Q(last_seq=after) & ~Exists(at_work)
    )
    return found.values_list("last_seq", "there", "running__number", "running__live", "at_rest").order_by()[
        :1
    ]


_LOG_AT = Prepared(_log_at, 2**53 - 1, 2**53)


def news_of(
    shown: PresentedSession, frames: list[Frame], turns: set[int], make: Look | None = None, *, of: int
) -> News:
    """``frames`` up to where ``shown`` is, with where their turns and ``turns`` stand; or the first of the ``of`` that
    there are. Within its lock."""
    if len(frames) < of:
        return News(frames, {}, 0, busy=True, texts=[], more=True)
    asked = turns | {frame.turn for frame in frames}
    standing = {turn: Standing(shown.place(turn), shown.over.get(turn, NOWHERE)) for turn in asked if turn}
    return News(frames, standing, shown.sent, shown.busy, [], make(shown) if make is not None else None)
