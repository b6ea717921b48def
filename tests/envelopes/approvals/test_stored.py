"""A stored question as it is shown outside of its conversation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest
from django.db import connection

from envelopes.approvals.stored import card_of
from envelopes.log.append import writing
from envelopes.models import Approval, Event
from tests.factories import make_approval, make_approvals, make_session, make_turn

pytestmark = pytest.mark.django_db


def _steps(do: Callable[[], object]) -> int:
    """Hundreds of steps of SQLite's machine."""
    steps = count()
    connection.connection.set_progress_handler(lambda: next(steps) and None, 100)
    try:
        do()
    finally:
        connection.connection.set_progress_handler(None, 0)
    return next(steps)


def _goes_on(approval: Approval, rows: int) -> None:
    last = Event.objects.filter(session=approval.session).latest("seq")
    Event.objects.bulk_create(
        Event(
            session=approval.session,
            seq=last.seq + at,
            kind="part",
            part_type="response",
            audience="delivered",
            turn=approval.turn.number,
            data={"part": {"text": "On and on.", "metadata": {"partType": "response"}}},
            at=last.at + timedelta(milliseconds=at),
        )
        for at in range(1, rows + 1)
    )


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts the steps of SQLite's machine")
def test_a_card_costs_the_same_however_long_its_conversation_has_gone_on() -> None:
    approval = make_approval(make_session())
    before = _steps(lambda: card_of(approval, ""))

    _goes_on(approval, 3_000)

    assert _steps(lambda: card_of(approval, "")) <= before + 1


def test_of_calls_that_ended_at_one_moment_each_says_its_own_end() -> None:
    approvals = make_approvals(make_turn(make_session()), {"order": "A1"}, {"order": "B2"})
    with writing(approvals[0].session_id) as writer:
        for approval in approvals:
            call = approval.tool_call
            call.state, call.finished_at = "succeeded", writer.now
            call.save()
            ended = {"approvalId": approval.approval_id, "summary": f"Done {approval.args['order']}."}
            writer.add("tool", ended, turn=approval.turn)

    assert [card_of(approval, "").summary for approval in approvals] == ["Done A1.", "Done B2."]
