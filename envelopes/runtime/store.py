"""Turns in the database: claimed, renewed, carried on. Synchronous; each function is one transaction.

A lease says who runs a turn; ``attempt`` rises with every claim and fences every write (D47).
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from envelopes.conf import setting
from envelopes.log.append import TurnFence, writing
from envelopes.models import ToolCall, Turn
from envelopes.providers.transcript import resumable
from envelopes.registries.state_machines import TURN
from envelopes.runtime import journal
from envelopes.runtime.history import opening_messages
from envelopes.runtime.turns import fail, turn_data

MAX_RECOVERIES = 5
"""So often in a row a turn is taken over without a step in between: what ends one process must not end all."""


def process_name() -> str:
    """``host:pid:start``: who holds a lease. The start time keeps a recycled pid apart."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def _started(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        return stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def is_dead(owner: str) -> bool:
    """Whether the process that holds a lease is certainly gone: it ran on this host and does not any more."""
    host, _, rest = owner.rpartition(":")[0].rpartition(":")
    pid, started = rest, owner.rpartition(":")[2]
    if host != socket.gethostname() or not pid.isdigit() or not started:
        return False
    return _started(int(pid)) != started


@dataclass(frozen=True)
class Claim:
    turn_pk: int
    session_pk: int
    attempt: int

    @property
    def fence(self) -> TurnFence:
        return TurnFence(self.turn_pk, self.attempt)


def claim_next(session_pk: int, owner: str) -> Claim | None:
    """Claim what this session has to run: a turn whose runner is gone, else the oldest in the queue, else nothing."""
    if not Turn.objects.filter(session=session_pk, status__in=["queued", "running"]).exists():
        return None
    with writing(session_pk) as writer:
        turn = Turn.objects.filter(session=session_pk, status="running").first()
        if turn is not None:
            free = turn.lease_until is None or turn.lease_until <= writer.now or is_dead(turn.lease_owner)
            if not free:
                return None
            reason = "recovered"
        else:
            turn = Turn.objects.filter(session=session_pk, status="queued").order_by("number").first()
            if turn is None:
                return None
            reason = "resumed" if turn.attempt else "started"
        TURN.check(turn.status, "running")
        if reason == "recovered":
            turn.recoveries += 1
            if turn.recoveries > MAX_RECOVERIES:
                fail(
                    writer,
                    turn,
                    "keeps_failing",
                    f"This was begun {turn.recoveries} times and never got further.",
                )
                return None
        turn.messages = resumable(turn.messages) if turn.messages else opening_messages(turn)
        turn.status, turn.lease_owner, turn.lease_until = "running", owner, _until()
        turn.attempt += 1
        turn.live = {}
        turn.save()
        writer.add("turn", turn_data(turn, "running", reason=reason), turn=turn)
        name = writer.session.public_id
        transaction.on_commit(lambda: journal.started(turn, name, reason))
        return Claim(turn.pk, session_pk, turn.attempt)


def claim_job(call_pk: int, owner: str) -> int | None:
    """Take over a background call whose runner is gone; returns its new attempt, or None when somebody has it."""
    now = timezone.now()
    call = ToolCall.objects.filter(pk=call_pk, background=True, state="running").first()
    if call is None or not (call.lease_until is None or call.lease_until <= now or is_dead(call.lease_owner)):
        return None
    changed = ToolCall.objects.filter(pk=call_pk, attempt=call.attempt, state="running").update(
        attempt=F("attempt") + 1, lease_owner=owner, lease_until=_until()
    )
    return call.attempt + 1 if changed else None


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=setting("BEACH_LEASE_SECONDS"))


def renew(owner: str, turns: list[int], jobs: list[int]) -> tuple[set[int], set[int]]:
    """Renew the leases of what this process runs; returns which turns still are its own, and which to cancel."""
    until = _until()
    Turn.objects.filter(pk__in=turns, lease_owner=owner, status="running").update(lease_until=until)
    ToolCall.objects.filter(pk__in=jobs, lease_owner=owner, state="running").update(lease_until=until)
    held = Turn.objects.filter(pk__in=turns, lease_owner=owner, status="running")
    return set(held.values_list("pk", flat=True)), set(
        held.filter(cancel_requested=True).values_list("pk", flat=True)
    )


def release(owner: str) -> list[int]:
    """Give up every lease of ``owner`` (it is shutting down); returns the sessions, whose turns are free at once."""
    sessions = list(
        Turn.objects.filter(lease_owner=owner, status="running").values_list("session_id", flat=True)
    )
    now = timezone.now()
    Turn.objects.filter(lease_owner=owner, status="running").update(lease_until=now)
    ToolCall.objects.filter(lease_owner=owner, state="running", background=True).update(lease_until=now)
    return sessions


def runnable_sessions() -> list[int]:
    """Sessions with something to run: a free queue, or a runner that is gone."""
    now = timezone.now()
    running = Turn.objects.filter(status="running")
    found = set(
        Turn.objects.filter(status="queued")
        .exclude(session__in=running.values("session"))
        .values_list("session_id", flat=True)
    )
    for pk, owner, until in running.values_list("session_id", "lease_owner", "lease_until"):
        if until is None or until <= now or is_dead(owner):
            found.add(pk)
    return sorted(found)


def orphaned_jobs() -> list[tuple[int, int]]:
    """``(call, session)`` of background calls whose runner is gone."""
    now = timezone.now()
    calls = ToolCall.objects.filter(background=True, state="running")
    rows = calls.order_by().values_list("pk", "session_id", "lease_owner", "lease_until")
    return [
        (pk, session) for pk, session, owner, until in rows if until is None or until <= now or is_dead(owner)
    ]


def save_live(claim: Claim, live: dict[str, object]) -> None:
    """Keep the text that streams now, for whoever connects meanwhile (D35)."""
    Turn.objects.filter(Q(pk=claim.turn_pk) & Q(attempt=claim.attempt, status="running")).update(live=live)
