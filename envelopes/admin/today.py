"""What happened today, for the start page: a bounded number of rows of indexes, whatever there is in all.

Today begins at midnight in the reader's zone. Where a bound cuts, the figure says so (docs/limits.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from envelopes.approvals.automatic import POLICY_PREFIX
from envelopes.costs import paid, taken
from envelopes.models import Approval, Event, ToolCall, Turn

DECISIONS = 2_000
"""Decisions of a day that are read; of more the newest."""
REPLIES = 5_000
"""Replies of models of a day whose tokens are added up; of more the newest."""
ERRORS = 99
"""Failed answers of a day that are counted."""

LIVE = timedelta(minutes=15)
"""A conversation in which something happened so recently is live."""

BINS = (30, 60, 120, 300, 900)
"""Upper ends of the lengths of time until a decision, in seconds."""

# As a literal: SQLite uses an index over some rows only where it reads in the query which ones.
_REPLIES = RawSQL("envelopes_event.kind = 'provider'", (), output_field=BooleanField())


def midnight(now: datetime) -> datetime:
    """The beginning of the reader's day."""
    return timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass
class Decided:
    """The decisions of today. ``waits`` are seconds from question to answer of those that a person gave, sorted;
    ``by_rules`` are those of ``granted`` about which nobody was asked; ``by_hour`` has granted, denied and expired of
    each hour so far. ``cut``: there were more than were read."""

    granted: int = 0
    denied: int = 0
    expired: int = 0
    by_rules: int = 0
    waits: list[float] = field(default_factory=list)
    by_hour: list[list[int]] = field(default_factory=list)
    cut: bool = False

    @property
    def by_people(self) -> int:
        return self.granted + self.denied - self.by_rules

    @property
    def median(self) -> float | None:
        return median(self.waits) if self.waits else None

    @property
    def nine_in_ten(self) -> float | None:
        return self.waits[min(len(self.waits) - 1, int(len(self.waits) * 0.9))] if self.waits else None

    def bins(self) -> list[int]:
        """How many took up to each of ``BINS``, and longer."""
        counts = [0] * (len(BINS) + 1)
        for wait in self.waits:
            counts[next((n for n, end in enumerate(BINS) if wait < end), len(BINS))] += 1
        return counts


def decided(now: datetime) -> Decided:
    """One query."""
    since = midnight(now)
    rows = Approval.objects.filter(decided_at__gte=since).order_by("-decided_at", "-pk")
    read = list(rows.values_list("state", "requested_at", "decided_at", "decided_by")[: DECISIONS + 1])
    found = Decided(by_hour=[[0, 0, 0] for _ in range(_hour(now) + 1)], cut=len(read) > DECISIONS)
    shown = ((state, asked, at, by) for state, asked, at, by in read[:DECISIONS] if at is not None)
    for state, asked, at, by in shown:
        hour = min(_hour(at), len(found.by_hour) - 1)
        if state == "granted":
            found.granted += 1
            found.by_hour[hour][0] += 1
        elif state == "denied":
            found.denied += 1
            found.by_hour[hour][1] += 1
        else:
            found.expired += 1
            found.by_hour[hour][2] += 1
        if by.startswith(POLICY_PREFIX):
            found.by_rules += state == "granted"
        elif state != "expired":
            found.waits.append(max(0.0, (at - asked).total_seconds()))
    found.waits.sort()
    return found


@dataclass
class Tokens:
    """What models read and wrote today, and what it cost; ``by_hour`` has both together."""

    read: int = 0
    written: int = 0
    cost: float = 0.0
    by_hour: list[int] = field(default_factory=list)
    cut: bool = False


def tokens(now: datetime) -> Tokens:
    """As the providers counted them; one query."""
    rows = Event.objects.filter(_REPLIES, at__gte=midnight(now)).order_by("-at").values_list("data", "at")
    replies = list(rows[: REPLIES + 1])
    found = Tokens(by_hour=[0] * (_hour(now) + 1), cut=len(replies) > REPLIES)
    for data, at in replies[:REPLIES]:
        if not isinstance(data, dict):
            continue
        used = taken(data.get("usage"))
        found.read += used.came
        found.written += used.written
        found.cost += paid(data.get("cost"))
        found.by_hour[min(_hour(at), len(found.by_hour) - 1)] += used.total
    return found


def failed(now: datetime) -> Sequence[Turn]:
    """Answers that ended with an error today, the newest first, at most ``ERRORS`` + 1; not what a person stopped."""
    rows: QuerySet[Turn] = Turn.objects.filter(turn_state="error", settled_at__gte=midnight(now))
    rows = rows.exclude(finalized_by="cancelled").select_related("session").order_by("-settled_at", "-pk")
    return list(rows.defer("messages", "results", "live", "trigger", "originators")[: ERRORS + 1])


def unknown() -> Sequence[Any]:
    """Calls of which nobody knows whether they took effect, whenever that was, at most ``ERRORS`` + 1."""
    rows = (
        ToolCall.objects.filter(state="unknown").select_related("turn__session", "approval").order_by("-pk")
    )
    wide = ("args", "result", "error", "approval__args", "turn__messages", "turn__results", "turn__live")
    return list(rows.defer(*wide)[: ERRORS + 1])


def _hour(at: datetime) -> int:
    return timezone.localtime(at).hour
