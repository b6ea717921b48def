"""What nobody runs is found, and nothing that somebody has."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from envelopes.models import ToolCall, Turn
from envelopes.turns import leases, sweeping
from tests import factories

pytestmark = pytest.mark.django_db

NOW = 1_000_000.0


def _job(owner: str, until: datetime | None, **fields: object) -> tuple[int, int]:
    turn = factories.make_turn(factories.make_session())
    call = factories.make_call(turn, state="running", background=True)
    ToolCall.objects.filter(pk=call.pk).update(lease_owner=owner, lease_until=until, **fields)
    return call.pk, call.session_id


def test_jobs_are_left_where_a_lease_has_run_out_or_its_owner_is_dead() -> None:
    later, before = timezone.now() + timedelta(minutes=1), timezone.now() - timedelta(seconds=1)
    mine, elsewhere = leases.process_name(), "another-host:1:1"
    # No process has this number.
    dead = f"{mine.split(':')[0]}:{2**22 + 1}:1"
    left = {
        _job(mine, before),
        _job(elsewhere, before),
        _job("", None),
        _job(dead, later),
    }
    _job(mine, later)
    _job(elsewhere, later)
    _job(mine, before, state="done")
    _job(mine, before, background=False)

    assert set(sweeping.orphaned_jobs()) == left


def test_where_no_job_runs_none_is_left() -> None:
    assert sweeping.orphaned_jobs() == []


def _turn(**fields: object) -> tuple[int, int]:
    turn = factories.make_turn(factories.make_session())
    Turn.objects.filter(pk=turn.pk).update(**{"status": "waiting", "deadline": None, **fields})
    return turn.pk, turn.session_id


def test_turns_that_wait_are_due_when_their_time_is_up_or_has_come() -> None:
    due = {
        _turn(deadline=NOW),
        _turn(due_at=NOW - 1),
        _turn(deadline=NOW + 1, due_at=NOW),
        _turn(deadline=NOW - 1, due_at=NOW + 1),
        _turn(deadline=NOW - 1, due_at=NOW - 1),
    }
    _turn()
    _turn(deadline=NOW + 1, due_at=NOW + 1)
    _turn(deadline=NOW - 1, status="running")
    _turn(due_at=NOW - 1, status="settled")

    found = sweeping.due_turns(NOW)

    assert (len(found), set(found)) == (len(due), due)
