"""Appending to a session's log: one lock, gap-free numbers, commit before anybody hears of it (design, section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.db import transaction
from django.utils import timezone

from envelopes.errors import LeaseLost, NotFound
from envelopes.log.doorbell import doorbell
from envelopes.log.rows import KINDS, LISTED, Audience
from envelopes.models.event import Event
from envelopes.models.session import Session
from envelopes.models.tool_call import ToolCall
from envelopes.models.turn import Turn
from envelopes.types import JsonObject


class Fence(Protocol):
    """Lets a writer through only while it is still the one who runs the work."""

    def check(self) -> None:
        """Raises ``LeaseLost``."""
        ...


@dataclass(frozen=True)
class TurnFence:
    turn: int
    attempt: int

    def check(self) -> None:
        if not Turn.objects.filter(pk=self.turn, attempt=self.attempt, status="running").exists():
            raise LeaseLost


@dataclass(frozen=True)
class JobFence:
    tool_call: int
    attempt: int

    def check(self) -> None:
        if not ToolCall.objects.filter(pk=self.tool_call, attempt=self.attempt, state="running").exists():
            raise LeaseLost


class Writer:
    """An open append: rows get their numbers as they are added and are stored when the block ends."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.now = timezone.now()
        self._events: list[Event] = []
        self._rows = self._work = self._news = False

    def add(
        self,
        kind: str,
        data: JsonObject | None = None,
        *,
        part_type: str = "",
        turn: Turn | None = None,
        actor: str = "",
        audience: Audience | None = None,
        at: datetime | None = None,
    ) -> Event:
        self.session.last_seq += 1
        event = Event(
            session=self.session,
            seq=self.session.last_seq,
            kind=kind,
            part_type=part_type,
            audience=audience or KINDS[kind],
            actor=actor or (turn.actor if turn else ""),
            turn=turn.number if turn else 0,
            data=data or {},
            at=at or self.now,
        )
        self._events.append(event)
        self._rows = True
        self._news |= kind in LISTED
        return event

    def flush(self) -> None:
        """Store what was added so far, inside the transaction, so that it can be read back before it commits."""
        if self._events:
            Event.objects.bulk_create(self._events)
            self._events.clear()
            self.session.save(update_fields=["last_seq", "turn_count", "title", "updated_at"])

    def wake_runner(self) -> None:
        """After the commit, a runner looks for work in this session."""
        self._work = True

    def finish(self) -> None:
        self.flush()
        session, work, news = self.session.pk, self._work, self._news
        if self._rows or work:
            transaction.on_commit(lambda: doorbell.ring(session, work=work, news=news))


@contextmanager
def writing(session_pk: int, *, fence: Fence | None = None) -> Iterator[Writer]:
    """Append rows, and change what belongs to them, in one transaction under the session's lock.

    Raises ``NotFound`` for an unknown session and ``LeaseLost`` when ``fence`` does not hold. Nothing is stored when
    the block raises. The doorbell rings after the commit.
    """
    with transaction.atomic():
        session = Session.objects.select_for_update().filter(pk=session_pk).first()
        if session is None:
            raise NotFound("This conversation no longer exists.")
        if fence is not None:
            fence.check()
        writer = Writer(session)
        yield writer
        writer.finish()
