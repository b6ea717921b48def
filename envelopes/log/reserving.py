"""Appending where it is known beforehand how many rows there will be: taking the lock and the numbers is one statement.

``writing`` locks first and stores the numbers in the end. Both hold the same lock, so both may be used at once; a wrong
guess costs one more statement and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.utils import timezone

from envelopes.access import Principal, ownership
from envelopes.errors import Forbidden, LeaseLost, NotFound
from envelopes.log.append import TurnFence, Writer
from envelopes.models import by_hand
from envelopes.models.session import Session
from envelopes.models.turn import Turn
from envelopes.registries.statuses import TurnStatus

NOT_OWNED = "Only the owner of this conversation can do that."

_KNOWN = (
    "id", "public_id", "actor", "title", "locale", "timezone", "last_seq", "turn_count", "held_by", "put_aside",
    "viewed", "taken_by", "finishing",
)  # fmt: skip

_RESERVE = f"""
UPDATE envelopes_session SET last_seq = last_seq + %s, turn_count = turn_count + %s, updated_at = %s
WHERE id = %s{{owned}}
RETURNING {by_hand.columns(Session, _KNOWN)}"""  # noqa: S608 - names of ours


@dataclass(frozen=True)
class Reserved:
    """So many numbers of rows and of turns."""

    rows: int
    turns: int = 0


class ReservingWriter(Writer):
    """A ``Writer`` whose session has its numbers already, and whose fence is part of storing its turn."""

    def __init__(self, session: Session, reserved: Reserved, fence: TurnFence | None) -> None:
        self._state = _state(session)
        session.last_seq -= reserved.rows
        session.turn_count -= reserved.turns
        super().__init__(session)
        self._fence = fence
        self._abandoned = False

    def store(self, turn: Turn, fields: Sequence[str]) -> None:
        """Store these fields of ``turn``. Raises ``LeaseLost`` when its fence does not hold."""
        if self._fence is None or self._fence.turn != turn.pk:
            super().store(turn, fields)
            return
        # By what the database has: what was read of the turn may be old.
        held = {"attempt": self._fence.attempt, "status": TurnStatus.RUNNING.value}
        if not by_hand.update(turn, fields, held):
            raise LeaseLost
        self._fence = None

    def abandon(self) -> None:
        """There is nothing to append after all: nothing is stored, and the numbers are given back."""
        transaction.set_rollback(True)
        self._abandoned = True

    def finish(self) -> None:
        if not self._abandoned:
            super().finish()

    def flush(self) -> None:
        if self._fence is not None:
            self._fence.check()
            self._fence = None
        self._store_rows()
        if _state(self.session) != self._state:
            by_hand.update(self.session, ["last_seq", "turn_count", "title", "updated_at"])
            self._state = _state(self.session)


def _state(session: Session) -> tuple[int, int, str]:
    return session.last_seq, session.turn_count, session.title


@contextmanager
def reserving(
    session_pk: int, reserved: Reserved, *, fence: TurnFence | None = None, owner: Principal | None = None
) -> Iterator[ReservingWriter]:
    """``writing`` for about so many rows, and new turns, as are ``reserved``.

    With ``owner``, only in a session that is theirs: raises ``Forbidden``. Raises ``NotFound`` and ``LeaseLost`` as
    ``writing`` does, the latter maybe as late as when the block ends: nothing is stored then.
    """
    owned, whose = ownership(owner, session_pk) if owner is not None else ("", ())
    asked = (reserved.rows, reserved.turns, adapted(timezone.now()), session_pk, *whose)
    with transaction.atomic():
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(_RESERVE.format(owned=owned), asked)
            found = cursor.fetchone()
        if found is None:
            if owner is not None and Session.objects.filter(pk=session_pk).exists():
                raise Forbidden(NOT_OWNED)
            raise NotFound("This conversation no longer exists.") if fence is None else LeaseLost()
        writer = ReservingWriter(by_hand.made(Session, found, _KNOWN), reserved, fence)
        yield writer
        writer.finish()


def adapted(time: datetime) -> Any:
    """``time`` as SQL by hand gives it to the database."""
    return connections[DEFAULT_DB_ALIAS].ops.adapt_datetimefield_value(time)
