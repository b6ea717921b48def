"""Leases kept, and given back: a process says again and again what it still runs. Synchronous.

By hand, since a process may run a thousand jobs, and Django takes ten times what the database does to name them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone

from envelopes.log.reserving import adapted
from envelopes.models import AgentCall, ToolCall, Turn, by_hand
from envelopes.registries.statuses import CallStatus, TurnStatus
from envelopes.turns.leases import lease_end

_TURNS = "envelopes_turn", "status"
_JOBS = "envelopes_toolcall", "state"
"""A table, and the column that says whether it is running."""

_HELD = "SELECT {told} FROM {table} WHERE id {among} AND lease_owner = %s AND {running} = 'running'"
_RENEW = {
    "sqlite": "UPDATE {table} SET lease_until = %s WHERE id {among} AND lease_owner = %s AND {running} = 'running'",
    "postgresql": (
        "WITH free AS (SELECT id FROM {table} WHERE id {among} AND lease_owner = %s AND {running} = 'running'"
        " FOR NO KEY UPDATE SKIP LOCKED)"
        " UPDATE {table} leased SET lease_until = %s FROM free WHERE leased.id = free.id"
    ),
}


def renew(owner: str, turns: Collection[int], jobs: Collection[int]) -> tuple[set[int], set[int]]:
    """Renew the leases of what this process runs; returns which turns still are its own, and which to cancel.

    What somebody has locked is left out (on PostgreSQL), so that one does not hold up all: whoever writes to it is at
    work on it, and a lease lasts for two more rounds.
    """
    _prolong(_TURNS, owner, turns)
    _prolong(_JOBS, owner, jobs)
    held = _held(_TURNS, owner, turns, "id, cancel_requested")
    return {pk for pk, _ in held}, {pk for pk, is_to_stop in held if is_to_stop}


def held_jobs(owner: str, jobs: Collection[int]) -> set[int]:
    """Which of these background calls are still ``owner``'s to run: not those that were stopped, that another process
    has taken over, or whose conversation is gone."""
    return {pk for (pk,) in _held(_JOBS, owner, jobs, "id")}


def release(owner: str) -> list[int]:
    """Give up every lease of ``owner`` (it is shutting down); returns the sessions, whose turns are free at once."""
    sessions = list(
        Turn.objects.filter(lease_owner=owner, status=TurnStatus.RUNNING).values_list("session_id", flat=True)
    )
    now = timezone.now()
    Turn.objects.filter(lease_owner=owner, status=TurnStatus.RUNNING).update(lease_until=now)
    ToolCall.objects.filter(lease_owner=owner, state=CallStatus.RUNNING, background=True).update(
        lease_until=now
    )
    AgentCall.objects.filter(lease_owner=owner).update(lease_until=None)
    return sessions


def _prolong(leased: tuple[str, str], owner: str, keys: Collection[int]) -> None:
    if not keys:
        return
    (table, running), (among, given) = leased, by_hand.among(keys)
    connection = connections[DEFAULT_DB_ALIAS]
    text = _RENEW[connection.vendor].format(table=table, running=running, among=among)
    later = adapted(lease_end())
    asked = [later, given, owner] if connection.vendor == "sqlite" else [given, owner, later]
    with connection.cursor() as cursor:
        cursor.execute(text, asked)


def _held(leased: tuple[str, str], owner: str, keys: Collection[int], told: str) -> list[tuple[Any, ...]]:
    if not keys:
        return []
    (table, running), (among, given) = leased, by_hand.among(keys)
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_HELD.format(told=told, table=table, running=running, among=among), [given, owner])
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
