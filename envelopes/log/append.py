"""Appending to a session's log: one lock, gap-free numbers, commit before anybody hears of it (design, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import transaction
from django.utils import timezone

from envelopes.access import Principal
from envelopes.errors import LeaseLost, NotFound
from envelopes.log.doorbell import doorbell
from envelopes.log.handing import Committed, hand_over
from envelopes.log.new_row import NewRow
from envelopes.log.numbering import number
from envelopes.log.storing import store_rows
from envelopes.models import by_hand
from envelopes.models.session import Session
from envelopes.models.tool_call import ToolCall
from envelopes.models.turn import Turn
from envelopes.protocol.rows import LISTED, Audience
from envelopes.registries.statuses import CallStatus, TurnStatus
from envelopes.types import Json


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
        if not Turn.objects.filter(pk=self.turn, attempt=self.attempt, status=TurnStatus.RUNNING).exists():
            raise LeaseLost


@dataclass(frozen=True)
class JobFence:
    tool_call: int
    attempt: int

    def check(self) -> None:
        if not ToolCall.objects.filter(
            pk=self.tool_call, attempt=self.attempt, state=CallStatus.RUNNING
        ).exists():
            raise LeaseLost


@dataclass(frozen=True)
class OwnerFence:
    """Lets ``who``, somebody who is known, write while they own the session (``access.owns``)."""

    who: Principal


class Writer:
    """An open append: rows get their numbers as they are added and are stored when the block ends.

    ``known_seq`` is the last row that the log has, whatever was added since.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.now = timezone.now()
        self.known_seq = session.last_seq
        self._first = session.last_seq + 1
        self._rows: list[NewRow] = []
        # The place from which rows are not stored yet.
        self._stored = 0
        self._work = self._news = self._calls = False
        self._last: dict[Callable[[list[Any]], None], list[Any]] = {}

    def add(
        self,
        kind: str,
        data: Mapping[str, Json] | None = None,
        *,
        part_type: str = "",
        turn: Turn | None = None,
        actor: str = "",
        audience: Audience | None = None,
    ) -> int:
        """Add a row, as ``data`` is now; its number."""
        self.session.last_seq += 1
        whose = actor or (turn.actor if turn else "")
        number = 0 if turn is None else turn.number if kind in LISTED else turn.shown_in
        self._rows.append(NewRow(kind, dict(data or {}), part_type, whose, number, audience))
        self._news |= kind in LISTED
        return self.session.last_seq

    def store(self, turn: Turn, fields: Sequence[str]) -> None:
        """Store these fields of ``turn``."""
        by_hand.update(turn, fields)

    def flush(self) -> None:
        """Store what was added so far, inside the transaction, so that it can be read back before it commits."""
        if self._store_rows():
            by_hand.update(self.session, ["last_seq", "turn_count", "title", "updated_at"])

    def wake_runner(self) -> None:
        """After the commit, a runner looks for work in this session."""
        self._work = True

    def wake_answering(self) -> None:
        """After the commit, this process looks for calls of agents' functions that it can answer."""
        self._calls = True

    def last(self, store: Callable[[list[Any]], None], item: object) -> None:
        """Have ``store`` get ``item``, with all that it is to get, once the rows are stored: for what has a lock of its
        own, which is to be taken behind all others."""
        self._last.setdefault(store, []).append(item)

    def finish(self) -> None:
        self.flush()
        for store, items in self._last.items():
            store(items)
        if self._rows or self._work:
            transaction.on_commit(self._committed)

    def _store_rows(self) -> bool:
        new, first = self._rows[self._stored :], self._first + self._stored
        if not new:
            return False
        store_rows(self.session.pk, first, new, self.now)
        if self.session.viewed:
            number(self.session.pk, first, new)
        self._stored, self.known_seq = len(self._rows), self.session.last_seq
        return True

    def _committed(self) -> None:
        session, upto = self.session.pk, self._first + len(self._rows) - 1
        if self._rows:
            hand_over(Committed(session, self._first, self._rows, self.now))
        doorbell.ring(session, upto=upto, work=self._work, news=self._news, calls=self._calls)


@contextmanager
def writing(session_pk: int, *, fence: Fence | None = None) -> Iterator[Writer]:
    """Append rows, and change what belongs to them, in one transaction under the session's lock.

    Raises ``LeaseLost`` when ``fence`` does not hold, nor does any in a session that is gone, and ``NotFound`` for an
    unknown one without a fence. Nothing is stored when the block raises. The doorbell rings after the commit.
    """
    with transaction.atomic():
        session = Session.objects.select_for_update().filter(pk=session_pk).first()
        if session is None:
            raise NotFound("This conversation no longer exists.") if fence is None else LeaseLost()
        if fence is not None:
            fence.check()
        writer = Writer(session)
        yield writer
        writer.finish()
