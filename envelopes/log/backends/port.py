"""What a backend of the short way promises, and what it is given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from envelopes.errors import Forbidden, LeaseLost, NotFound
from envelopes.log.append import JobFence, OwnerFence, TurnFence
from envelopes.log.new_row import NewRow
from envelopes.log.reserving import NOT_OWNED
from envelopes.types import JsonObject


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """The client's message that an append is made for: whose (``Principal.key``), its id, and the answer that it gets
    however often it comes (D36). ``text`` is ``answer`` as a JSONField writes it."""

    principal: str
    message_id: str
    answer: JsonObject
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", json.dumps(self.answer))


AppendFence = TurnFence | JobFence | OwnerFence


@dataclass(frozen=True, slots=True)
class Append:
    """Rows for one session's log that stand together, or are refused together.

    ``expected`` is the last row of the log that the writer has checked them against; None for rows that are right
    whatever stands before them. With a ``request``, they are stored once only.
    """

    session_pk: int
    fence: AppendFence | None
    rows: Sequence[NewRow]
    expected: int | None = None
    request: ClientRequest | None = None

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("An append has at least one row.")

    @property
    def shut_out(self) -> LeaseLost | Forbidden:
        """What it is told when its fence does not hold."""
        return Forbidden(NOT_OWNED) if isinstance(self.fence, OwnerFence) else LeaseLost()


@dataclass(frozen=True, slots=True)
class Stored:
    """The numbers that an append's rows got, and the time that they carry (aware, UTC)."""

    first: int
    last: int
    at: datetime


class Behind(Exception):
    """Others have appended since the writer looked: the log is at row ``last_seq``. Nothing of the append is stored."""

    def __init__(self, last_seq: int) -> None:
        super().__init__(last_seq)
        self.last_seq = last_seq


class Locked(Exception):
    """Somebody else writes to this session. Nothing of the append is stored."""


class Repeated(Exception):
    """The client's message has come before, and this is the ``answer`` that it got. Nothing of the append is stored."""

    def __init__(self, answer: JsonObject) -> None:
        super().__init__()
        self.answer = answer


Outcome = Stored | Behind | Locked | Repeated | LeaseLost | Forbidden | NotFound


class Backend(Protocol):
    """Appends by hand, under the lock that ``writing`` takes: both ways may be used at once.

    One thread at a time uses it. It keeps one connection of its own open: Django, which closes its connections between
    requests, does not know of it.
    """

    def write(self, group: Sequence[Append]) -> list[Outcome]:
        """Append all of ``group``, of any sessions, in one transaction; the outcome of each, in order, once committed.

        A member whose session is unknown, whose fence does not hold, whose request has come before or who is behind is
        left out and takes no number; it is told the first of these. Appends to one session are numbered in the order
        given, and one is behind that does not expect what those before it have left. So is one whose request another
        one of the group has brought: it finds the answer when it tries again. Where sessions are locked singly,
        nobody waits for those that somebody else has locked: they are left out too (``Locked``). ``Stored.at`` is no
        older than the lock. Raises what Django raises; then nothing of the group is stored, but where the connection is
        lost during the commit, after which nobody knows.
        """
        ...

    def for_all(self, error: Exception) -> bool:
        """Whether what ``write`` raised says that the database is locked or away: no member would fare better alone."""
        ...

    def close(self) -> None:
        """Give the connection back. A later ``write`` opens another."""
        ...
