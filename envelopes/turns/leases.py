"""Turns in the database: claimed, renewed, carried on. Synchronous; each function is one transaction.

A lease says who runs a turn; ``attempt`` rises with every claim and fences every write (D47).
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import orjson
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, transaction
from django.db.models import F
from django.utils import timezone

from envelopes.conf import conf
from envelopes.errors import NotFound
from envelopes.log.append import TurnFence, Writer, writing
from envelopes.log.reserving import Reserved, adapted, reserving
from envelopes.models import ToolCall, Turn, by_hand
from envelopes.providers.transcript import extended, resumable
from envelopes.registries.statuses import CallStatus, TurnStatus
from envelopes.turns import journal
from envelopes.turns.history import opening_messages
from envelopes.turns.lifecycle import consume, fail, turn_data
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

MAX_RECOVERIES = 5
"""How often in a row a turn is taken over without a step in between: what ends one process must not end all."""


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
    """Whether the process that holds a lease is certainly gone: it ran on this host and does not any more. The kernel
    is asked each time; who asks about many asks once for each owner."""
    host, _, rest = owner.rpartition(":")[0].rpartition(":")
    pid, started = rest, owner.rpartition(":")[2]
    if host != socket.gethostname() or not pid.isdigit() or not started:
        return False
    return _started(int(pid)) != started


@dataclass(frozen=True)
class Claim:
    """``turn``: as it was when it was claimed, where no reply of its has begun. Its first messages are stored with the
    first that is added to them; made anew from the log, they are the same. ``deadline`` is when its time is up, in
    seconds since 1970; ``name``, what the process log calls it."""

    turn_pk: int
    session_pk: int
    attempt: int
    deadline: float | None = field(default=None, compare=False)
    turn: Turn | None = field(default=None, compare=False, repr=False)
    name: str = field(default="", compare=False)

    @property
    def fence(self) -> TurnFence:
        return TurnFence(self.turn_pk, self.attempt)


def claim_next(session_pk: int, owner: str) -> Claim | None:
    """Claim what this session has to run: a turn whose runner is gone, else the oldest in the queue, else nothing."""
    try:
        claim = _claim_queued(session_pk, owner)
        if claim is None and Turn.objects.filter(session=session_pk, status=TurnStatus.RUNNING).exists():
            claim = _recover(session_pk, owner)
    except NotFound:
        # It was erased since it rang.
        return None
    return claim


def _claim_queued(session_pk: int, owner: str) -> Claim | None:
    """None where nothing is queued, or another turn is running."""
    with reserving(session_pk, Reserved(rows=1)) as writer:
        asked = (owner, adapted(lease_end()), writer.now.timestamp(), session_pk)
        if writer.session.taken_by:
            text, asked = _CLAIM_BESIDE_STAFF, (*asked, *[writer.session.finishing] * 2)
        else:
            text = _CLAIM
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(text, (*asked, session_pk))
            found = cursor.fetchone()
        if found is None:
            writer.abandon()
            return None
        turn = by_hand.made(Turn, found)
        turn.session = writer.session
        begins = not turn.messages
        if begins:
            turn.messages = opening_messages(turn, upto=writer.known_seq)
        else:
            turn.messages = resumable(turn.messages)
        if turn.goes_on or not begins:
            # Nothing can have come in for a turn that was only just opened.
            if begins:
                turn.messages = extended(turn.messages, "user", consume(writer, turn))
            writer.store(turn, ["messages", "told_from"])
        return _claimed(writer, turn, "resumed" if turn.attempt > 1 else "started", begins=begins)


def _recover(session_pk: int, owner: str) -> Claim | None:
    """A turn whose runner is gone. None where there is none, or it was begun too often and has failed now."""
    with writing(session_pk) as writer:
        turn = (
            Turn.objects.filter(session=session_pk, status=TurnStatus.RUNNING)
            .select_related("session")
            .first()
        )
        if turn is None or not is_free(turn.lease_owner, turn.lease_until, writer.now):
            return None
        turn.recoveries += 1
        if turn.recoveries > MAX_RECOVERIES:
            text = f"This was begun {turn.recoveries} times and never got further."
            fail(writer, turn, "keeps_failing", text)
            return None
        begins = not turn.messages
        if begins:
            turn.messages = extended(
                opening_messages(turn, upto=writer.known_seq), "user", consume(writer, turn)
            )
        else:
            turn.messages = resumable(turn.messages)
        turn.live = {}
        lease(turn, owner, writer.now)
        turn.save()
        return _claimed(writer, turn, "recovered", begins=begins)


def lease(turn: Turn, owner: str, now: datetime) -> None:
    """Make ``turn`` one that runs with ``owner`` from ``now`` on. Stores nothing; ``_CLAIM`` is the same as SQL."""
    turn.status, turn.attempt = TurnStatus.RUNNING, turn.attempt + 1
    turn.lease_owner, turn.lease_until = owner, lease_end()
    if turn.deadline is None:
        turn.deadline = now.timestamp() + turn.seconds_left


def claim_opened(writer: Writer, turn: Turn) -> Claim | None:
    """The claim of ``turn``, which was stored with its lease in the transaction that opened it. None where its first
    messages cannot be made: it is queued then, since what opened it is to be kept whatever becomes of the answer."""
    try:
        turn.messages = opening_messages(turn, upto=writer.known_seq)
    except DatabaseError:
        raise
    except Exception:
        logger.exception(
            "%s: it cannot begin where it was opened", journal.name_of(turn, writer.session.public_id)
        )
        turn.status, turn.attempt, turn.deadline = TurnStatus.QUEUED, 0, None
        turn.lease_owner, turn.lease_until = "", None
        writer.store(turn, ["status", "attempt", "deadline", "lease_owner", "lease_until"])
        writer.wake_runner()
        return None
    return _claimed(writer, turn, "started", begins=True)


def _claimed(writer: Writer, turn: Turn, reason: str, *, begins: bool) -> Claim:
    writer.add("turn", turn_data(turn, "running", reason=reason), turn=turn)
    name = writer.session.public_id
    transaction.on_commit(lambda: journal.started(turn, name, reason))
    told = journal.name_of(turn, name)
    return Claim(turn.pk, turn.session_id, turn.attempt, turn.deadline, turn if begins else None, told)


def is_free(
    owner: str, until: datetime | None, now: datetime, is_gone: Callable[[str], bool] = is_dead
) -> bool:
    """Whether nobody holds a lease of ``owner`` until then."""
    return until is None or until <= now or is_gone(owner)


_CLAIM_ANY = f"""
UPDATE envelopes_turn SET status = 'running', lease_owner = %s, lease_until = %s, attempt = attempt + 1,
  deadline = COALESCE(deadline, %s + seconds_left)
WHERE id = (
  SELECT id FROM envelopes_turn WHERE session_id = %s AND status = 'queued'{{and_only}}
  ORDER BY delegated_from_id IS NULL, number LIMIT 1
)
  AND NOT EXISTS (SELECT 1 FROM envelopes_turn other WHERE other.session_id = %s AND other.status = 'running')
RETURNING {by_hand.columns(Turn)}"""  # noqa: S608 - names of ours

_CLAIM = _CLAIM_ANY.format(and_only="")

_CLAIM_BESIDE_STAFF = _CLAIM_ANY.format(
    and_only=(
        " AND (number = %s OR (delegated_from_id IS NOT NULL AND %s > 0) OR EXISTS"
        " (SELECT 1 FROM envelopes_toolcall c WHERE c.turn_id = envelopes_turn.id AND c.state = 'approved'))"
    )
)
"""While staff have the conversation: the turn that may end first, with whom it asks, or one of which a person has
approved a call (``turns.takeover``)."""


def claim_job(call_pk: int, owner: str) -> int | None:
    """Take over a background call whose runner is gone; returns its new attempt, or None when somebody has it."""
    now = timezone.now()
    call = ToolCall.objects.filter(pk=call_pk, background=True, state=CallStatus.RUNNING).first()
    if call is None or not is_free(call.lease_owner, call.lease_until, now):
        return None
    changed = ToolCall.objects.filter(pk=call_pk, attempt=call.attempt, state=CallStatus.RUNNING).update(
        attempt=F("attempt") + 1, lease_owner=owner, lease_until=lease_end()
    )
    return call.attempt + 1 if changed else None


def lease_end() -> datetime:
    """Until when a lease holds that is taken or renewed now."""
    return timezone.now() + timedelta(seconds=conf.BEACH_LEASE_SECONDS)


def is_to_stop(claim: Claim) -> bool:
    """Whether somebody wants the turn of this claim to end."""
    return Turn.objects.filter(pk=claim.turn_pk, attempt=claim.attempt, cancel_requested=True).exists()


def save_live(live: Mapping[Claim, JsonObject], using: str = DEFAULT_DB_ALIAS) -> set[Claim]:
    """Keep the text that streams now, of all these turns in one statement, for whoever connects meanwhile (D35).

    Returns whose text was stored: not where the claim does not hold, nor, on PostgreSQL, where somebody has the turn
    locked. To wait there for several turns, in no order, could end in a deadlock.
    """
    connection = connections[using]
    given = [(claim.turn_pk, claim.attempt, text) for claim, text in live.items()]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_SAVE_POSTGRES, [orjson.dumps(given).decode()])
        else:
            values = ", ".join(["(%s, %s, %s)"] * len(given))
            flat = [
                value
                for turn, attempt, text in given
                for value in (turn, attempt, orjson.dumps(text).decode())
            ]
            cursor.execute(_SAVE_SQLITE.format(values=values), flat)
        stored = set(cursor.fetchall())
    return {claim for claim in live if (claim.turn_pk, claim.attempt) in stored}


_SAVE_POSTGRES = """
WITH given AS (
  SELECT (g->>0)::bigint AS turn, (g->>1)::int AS attempt, g->2 AS live FROM jsonb_array_elements(%s::jsonb) AS g
), held AS (
  SELECT t.id, g.live FROM envelopes_turn t JOIN given g ON t.id = g.turn AND t.attempt = g.attempt
  WHERE t.status = 'running' FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE envelopes_turn t SET live = h.live FROM held h WHERE t.id = h.id RETURNING t.id, t.attempt"""

_SAVE_SQLITE = """
UPDATE envelopes_turn SET live = given.column3 FROM (VALUES {values}) AS given
WHERE id = given.column1 AND attempt = given.column2 AND status = 'running' RETURNING id, attempt"""
