"""What nobody runs and somebody should: found by every process, once a second. Synchronous.

A process may run a thousand jobs, and as many turns wait for them: only those that are left, or due, are read.
"""

from __future__ import annotations

from functools import cache

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from envelopes.log.reserving import adapted
from envelopes.models import ToolCall, Turn
from envelopes.registries.statuses import CallStatus, TurnStatus
from envelopes.turns.leases import is_dead, is_free


def runnable_sessions() -> list[int]:
    """Sessions with something to run: a free queue, or a runner that is gone."""
    now, is_gone = timezone.now(), cache(is_dead)
    found: set[int] = set()
    at_work: set[int] = set()
    approved = ToolCall.objects.filter(turn=OuterRef("pk"), state=CallStatus.APPROVED)
    goes_on = Q(session__taken_by="") | Q(session__finishing__gt=0) | Exists(approved)
    open_turns = Turn.objects.filter(
        Q(status=TurnStatus.RUNNING) | Q(goes_on, status=TurnStatus.QUEUED)
    ).order_by()
    for session, status, owner, until in open_turns.values_list(
        "session_id", "status", "lease_owner", "lease_until"
    ):
        if status == TurnStatus.RUNNING and not is_free(owner, until, now, is_gone):
            at_work.add(session)
        else:
            found.add(session)
    return sorted(found - at_work)


_DUE = """
SELECT id, session_id FROM envelopes_turn {deadline} WHERE status = 'waiting' AND deadline <= %s
UNION
SELECT id, session_id FROM envelopes_turn {due_at} WHERE status = 'waiting' AND due_at IS NOT NULL AND due_at <= %s"""
"""With the words of the two indexes: SQLite takes no partial one for values that it is given, and, unless told to,
another one for what stands in both."""
_BY_INDEX = {
    "sqlite": {"deadline": "INDEXED BY turn_deadline", "due_at": "INDEXED BY turn_due_at"},
    "postgresql": {"deadline": "", "due_at": ""},
}


def due_turns(now: float) -> list[tuple[int, int]]:
    """``(turn, session)`` of turns that wait, and whose time is up, or has come. ``now`` in seconds since 1970."""
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        cursor.execute(_DUE.format(**_BY_INDEX[connection.vendor]), [now, now])
        found: list[tuple[int, int]] = cursor.fetchall()
    return found


_OWNERS = "SELECT DISTINCT lease_owner FROM envelopes_toolcall WHERE state = 'running' AND background"
_LEFT = """
SELECT id, session_id FROM envelopes_toolcall WHERE state = 'running' AND background
  AND (lease_until IS NULL OR lease_until <= %s{gone})"""


def orphaned_jobs() -> list[tuple[int, int]]:
    """``(call, session)`` of background calls whose runner is gone."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_OWNERS)
        owners = [owner for (owner,) in cursor.fetchall()]
        if not owners:
            return []
        gone = [owner for owner in owners if is_dead(owner)]
        text = _LEFT.format(gone=f" OR lease_owner IN ({', '.join(['%s'] * len(gone))})" if gone else "")
        cursor.execute(text, [adapted(timezone.now()), *gone])
        found: list[tuple[int, int]] = cursor.fetchall()
    return found
