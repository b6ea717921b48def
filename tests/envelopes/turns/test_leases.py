"""Leases are renewed for all that a process runs, whatever somebody else holds up."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from envelopes.models import ToolCall, Turn
from envelopes.turns import renewing
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

OWNER = "host:1:1"


def _running() -> Turn:
    turn = factories.make_turn(factories.make_session())
    turn.lease_owner, turn.lease_until = OWNER, timezone.now()
    turn.save()
    return turn


def _job_of(turn: Turn) -> ToolCall:
    job = factories.make_call(turn, state="running")
    job.lease_owner, job.lease_until = OWNER, timezone.now()
    job.save()
    return job


def _is_renewed(leased: Turn | ToolCall) -> bool:
    leased.refresh_from_db()
    return leased.lease_until is not None and leased.lease_until > timezone.now() + timedelta(seconds=1)


def test_a_process_keeps_what_is_its_own_and_hears_what_to_cancel() -> None:
    mine, stopped, taken = _running(), _running(), _running()
    Turn.objects.filter(pk=stopped.pk).update(cancel_requested=True)
    Turn.objects.filter(pk=taken.pk).update(lease_owner="other:1:1")
    job = _job_of(mine)

    held, cancel = renewing.renew(OWNER, [mine.pk, stopped.pk, taken.pk], [job.pk])

    assert (held, cancel) == ({mine.pk, stopped.pk}, {stopped.pk})
    assert [_is_renewed(one) for one in (mine, stopped, taken, job)] == [True, True, False, True]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one lock for all")
def test_one_that_is_locked_holds_up_no_other() -> None:
    locked, free = _running(), _running()
    job = _job_of(free)
    told: list[tuple[set[int], set[int]]] = []

    def renew() -> None:
        try:
            told.append(renewing.renew(OWNER, [locked.pk, free.pk], [job.pk]))
        finally:
            connections.close_all()

    thread = threading.Thread(target=renew)
    with transaction.atomic():
        Turn.objects.select_for_update().get(pk=locked.pk)
        thread.start()
        thread.join(30)
        # Still its own: nobody else has it.
        assert told == [({locked.pk, free.pk}, set())]
    assert [_is_renewed(one) for one in (locked, free, job)] == [False, True, True]
