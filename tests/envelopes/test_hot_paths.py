"""Queries that run for every page or every second look things up: they must not read a table that grows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from envelopes import intake, secrets
from envelopes.access import Principal
from envelopes.approvals.service import expire_due
from envelopes.delivery.news import log_at
from envelopes.transports.panel.sidebar import sidebar
from envelopes.turns import sweeping
from tests import factories

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's plans, which name every scan"),
]


def _page_of(who: Principal) -> None:
    sidebar(who, current="")


@pytest.mark.parametrize(
    "work",
    [
        lambda: _page_of(Principal(owner_key="k" * 64)),
        lambda: _page_of(Principal(user=factories.make_user())),
        sweeping.runnable_sessions,
        sweeping.orphaned_jobs,
        lambda: sweeping.due_turns(0.0),
        expire_due,
        secrets.purge,
        intake.forget_messages,
    ],
    ids=[
        "a visitor's list",
        "a person's list",
        "queues",
        "jobs",
        "turns that are due",
        "approvals",
        "secrets",
        "client messages",
    ],
)
def test_it_scans_no_table(work: object) -> None:
    plans = _plans_of(work)
    assert plans
    assert [plan for plan in plans if plan.startswith("SCAN envelopes_")] == []


@pytest.mark.parametrize(
    "work", [lambda: log_at(1, 0), lambda: _page_of(Principal(owner_key="k" * 64))], ids=["hello", "list"]
)
def test_whether_a_turn_is_at_work_is_asked_without_reading_those_that_are_over(work: object) -> None:
    steps = [plan.partition(" in ")[0] for plan in _plans_of(work)]
    assert [step for step in steps if "turn_at_work" in step]
    assert [step for step in steps if "turn_number" in step or "turn_session_id" in step] == []


def _plans_of(work: object) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        work()  # type: ignore[operator]
    plans = []
    with connection.cursor() as cursor:
        for query in queries.captured_queries:
            if query["sql"].lstrip().startswith(("SELECT", "DELETE")):
                cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
                plans += [f"{line[-1]} in {query['sql']}" for line in cursor.fetchall()]
    return plans
