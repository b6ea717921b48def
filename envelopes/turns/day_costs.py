"""What models have cost since midnight in the site's zone: in all, of each person, and of guests from each address.

Read from the log, where each reply stands with its cost, so it holds for all processes and after a restart. A process
remembers the sums and reads what is new, by the index that replies have: two queries each time at most (the first one
of a day reads all of it), and none where the settings have no bound. Once in a while it looks whether it knows all rows
of the day, and reads those that it does not: one may be committed long after it was written, or have its time from a
clock that is slow. What is under way is not counted yet: a bound is passed by as much as that.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Any

from django.db.models import BooleanField, Count, Sum
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.crypto import salted_hmac

from envelopes.conf import conf
from envelopes.costs import paid
from envelopes.errors import AddressCostReached, DayCostReached, PersonCostReached
from envelopes.models import Event, Turn
from envelopes.protocol.originators import Originator
from envelopes.protocol.zones import zone_of

SITE, PERSON, ADDRESS = "BEACH_DAY_COST", "BEACH_PERSON_DAY_COST", "BEACH_ADDRESS_DAY_COST"
"""The settings; 0 for no bound."""

OVERLAP = timedelta(seconds=60)
"""So far back rows are looked for each time: hardly one takes longer from when it was written until others see it."""

LOOK_BACK = timedelta(seconds=60)
"""How often it is looked whether one did."""

AT_ONCE = 100
"""Conversations in one query for who began their turns."""

Reached = DayCostReached | PersonCostReached | AddressCostReached

logger = logging.getLogger(__name__)

# As a literal: SQLite uses an index over some rows only where it reads in the query which ones.
_REPLIES = RawSQL("envelopes_event.kind = 'provider'", (), output_field=BooleanField())


@dataclass
class _Day:
    """Sums since ``began``: of ``who``, by the key of a principal or ``origin_of`` an address, and of all. ``seen`` are
    the rows that have been read, ``rows`` and ``sum`` how many the database has of them and their keys together, as
    long as no other row came or went; that was asked at ``looked_back``. ``told`` are bounds of which the log has
    heard."""

    began: datetime
    upto: datetime
    looked_back: datetime
    cost: float = 0.0
    who: dict[str, float] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    rows: int = 0
    sum: int = 0
    told: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True)
class Standing:
    """For staff: what was spent today, ``bound`` for all together (0 for none), until when the day goes, and how many
    people and guests have reached theirs."""

    cost: float
    bound: float
    until: datetime
    at_their_bound: int

    @property
    def is_reached(self) -> bool:
        return 0 < self.bound <= self.cost


class DayCosts:
    """Of one process; from whichever thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._day: _Day | None = None

    def look(self) -> None:
        """Read what is new, where there is a bound; outside of transactions that others wait for."""
        if any(_bounds().values()):
            with self._lock:
                self._read(timezone.now())

    def reached(self, whose: Iterable[Mapping[str, Any]], zone: str) -> Reached | None:
        """The error that says which bound is reached of turns that ``whose`` began (``Originator``), and until when;
        None where none is. As of the last ``look``; ``zone`` is that of whoever reads it."""
        bounds, day = _bounds(), self._day
        if day is None or day.began != midnight(timezone.now()):
            return None
        if 0 < bounds[SITE] <= day.cost:
            return _error(DayCostReached, SITE, "", day, zone)
        for one in whose:
            if one["kind"] in ("person", "guest") and 0 < bounds[PERSON] <= day.who.get(
                one["principal"], 0.0
            ):
                return _error(PersonCostReached, PERSON, one["principal"], day, zone)
            origin = one.get("origin", "")
            if origin and 0 < bounds[ADDRESS] <= day.who.get(origin, 0.0):
                return _error(AddressCostReached, ADDRESS, origin, day, zone)
        return None

    def standing(self) -> Standing | None:
        """As it is now; None without any bound."""
        bounds = _bounds()
        if not any(bounds.values()):
            return None
        with self._lock:
            day = self._read(timezone.now())
            at_theirs = sum(
                0 < bounds[ADDRESS if key.startswith(_ORIGIN) else PERSON] <= cost
                for key, cost in day.who.items()
            )
            return Standing(day.cost, bounds[SITE], _next(day.began), at_theirs)

    def forget(self) -> None:
        """Begin anew, for tests."""
        self._day = None

    def _read(self, now: datetime) -> _Day:
        began = midnight(now)
        day = self._day
        if day is None or day.began != began:
            day = _Day(began, began, now)
        since = max(began, day.upto - OVERLAP)
        if now - day.looked_back >= LOOK_BACK:
            since = since if _there(began) == (day.rows, day.sum) else began
            day.looked_back = now
        replies = Event.objects.filter(_REPLIES, at__gte=since).order_by()
        rows = list(replies.values_list("pk", "session_id", "turn", "data__cost", "at"))
        found = [row for row in rows if row[0] not in day.seen]
        whose = _whose({(session, turn) for _, session, turn, cost, _ in found if paid(cost)})
        if since == began:
            # Of conversations that were deleted meanwhile what they cost stays counted, and their rows are gone.
            day.rows = day.sum = 0
        for pk, *_ in rows if since == began else found:
            day.rows, day.sum = day.rows + 1, day.sum + pk
        for pk, session, turn, cost, at in found:
            day.seen.add(pk)
            # No further than now: the clock of another machine may be ahead.
            day.upto = max(day.upto, min(at, now))
            if not (spent := paid(cost)):
                continue
            day.cost += spent
            for name in whose.get((session, turn), ()):
                day.who[name] = day.who.get(name, 0.0) + spent
        self._day = day
        return day


def origin_of(address: str) -> str:
    """What stands for an address in a guest's turn today, while there is a bound for addresses; "" without. It tells
    neither what the address was, nor that yesterday's was the same."""
    if not address or not conf.BEACH_ADDRESS_DAY_COST:
        return ""
    today = midnight(timezone.now()).date()
    return _ORIGIN + salted_hmac(_ORIGIN, f"{today} {address}", algorithm="sha256").hexdigest()[:32]


_ORIGIN = "origin:"


def midnight(now: datetime) -> datetime:
    """The beginning of the site's day."""
    zone = timezone.get_default_timezone()
    return datetime.combine(timezone.localtime(now, zone).date(), time(), zone)


def _next(began: datetime) -> datetime:
    # By the date: days on which clocks change have other lengths.
    return datetime.combine(began.date() + timedelta(days=1), time(), began.tzinfo)


def _bounds() -> dict[str, float]:
    return {name: getattr(conf, name) for name in (SITE, PERSON, ADDRESS)}


def _there(began: datetime) -> tuple[int, int]:
    """How many rows there are since then, and the sum of their keys: another one where one came late or went."""
    there = Event.objects.filter(_REPLIES, at__gte=began).aggregate(rows=Count("pk"), sum=Sum("pk"))
    return there["rows"], int(there["sum"] or 0)


def _whose(turns: set[tuple[int, int]]) -> dict[tuple[int, int], list[str]]:
    """Who is counted of each turn, by its session and number: whoever began it first, and where from."""
    found: dict[tuple[int, int], list[str]] = {}
    sessions = sorted({session for session, _ in turns})
    for start in range(0, len(sessions), AT_ONCE):
        some = set(sessions[start : start + AT_ONCE])
        numbers = {number for session, number in turns if session in some}
        rows = Turn.objects.filter(session__in=some, number__in=numbers).order_by()
        for session, number, originators in rows.values_list("session_id", "number", "originators"):
            if (session, number) in turns and originators:
                found[session, number] = _counted(originators)
    return found


def _counted(originators: Sequence[Originator]) -> list[str]:
    first = originators[0]
    return [first["principal"], *filter(None, (first.get("origin", ""),))]


def _error(kind: type[Reached], setting: str, key: str, day: _Day, zone: str) -> Reached:
    until = _next(day.began)
    if (setting, key) not in day.told:
        day.told.add((setting, key))
        logger.warning("%s is reached%s until %s.", setting, f" by {key}" if key else "", until.isoformat())
    at = until.astimezone(zone_of(zone))
    left = max(1, int((until - timezone.now()).total_seconds()))
    told = f"{kind.__doc__} You can go on from {at:%H:%M} on {at:%A}."
    return kind(told, limit=setting, retry_after=left)


day_costs = DayCosts()
"""Those of this process."""
