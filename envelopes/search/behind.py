"""Conversations of which something is not known yet. What is asked again and again is asked by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import F, Q, QuerySet

from envelopes.log.reserving import adapted
from envelopes.models import SearchCursor, Session
from envelopes.models.searched import STALE

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

ANSWERED_WITHIN = timedelta(minutes=1)
"""A turn that has run for less is about to write more rows: its conversation is taken in with those, once. Whoever
searches meanwhile has it taken in (``indexing.catch_up``)."""

RESTS = timedelta(seconds=5)
ROWS = 250
"""A conversation is taken in when it has not changed for so long, or has so many more rows: one that a job goes on
writing into would else be taken in each round."""

Changed = tuple[Any, int]
"""When a conversation last changed, as the database gives it, and its key."""


def behind() -> QuerySet[Session]:
    """Conversations of which rows are not taken in, or, after a backup was restored, too many are."""
    stands_elsewhere = Q(facts__isnull=True) | ~Q(last_seq=F("facts__seq"))
    return Session.objects.filter(stands_elsewhere).exclude(facts__seq=STALE)


def outdated() -> QuerySet[Session]:
    """Conversations of whose people something has changed."""
    return Session.objects.filter(facts__seq=STALE).order_by("pk")


def known_until(*, lock: bool = False) -> datetime:
    """How far the log is known, which is written down from now on; with ``lock`` until the transaction ends."""
    cursors = SearchCursor.objects.filter(pk=1)
    if lock:
        cursors = cursors.select_for_update()
    known = cursors.values_list("known_until", flat=True).first()
    if known is not None:
        return known
    none = SearchCursor(pk=1, known_until=LONG_AGO, lease_until=LONG_AGO)
    SearchCursor.objects.bulk_create([none], ignore_conflicts=True)
    return known_until(lock=lock)


_DUE = f"""
SELECT s.updated_at, s.id FROM envelopes_session s
  LEFT JOIN envelopes_conversationfacts f ON f.session_id = s.id
WHERE s.updated_at >= %s AND (s.updated_at > %s OR s.id > %s)
  AND (f.session_id IS NULL OR f.seq <> s.last_seq AND f.seq <> {STALE})
  AND (s.updated_at <= %s OR s.last_seq >= COALESCE(f.seq, 0) + %s)
  AND NOT EXISTS (
    SELECT 1 FROM envelopes_turn t WHERE t.session_id = s.id AND t.status = 'running' AND t.created_at > %s
  )
ORDER BY s.updated_at, s.id LIMIT %s"""  # noqa: S608 - a number of ours


def due(since: datetime | Changed, now: datetime, most: int) -> list[Changed]:
    """The next ``most`` that are `behind` and are to be taken in now, in the order in which they last changed: those
    that have since then, or come after one of them."""
    at, pk = since if isinstance(since, tuple) else (adapted(since), 0)
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        asked = [at, at, pk, adapted(now - RESTS), ROWS, adapted(now - ANSWERED_WITHIN), most]
        cursor.execute(_DUE, asked)
        found: list[Changed] = cursor.fetchall()
    return found
