"""Queries that run for every page or every second look things up: they must not read a table that grows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from envelopes import secrets
from envelopes.access import Principal, sessions_for
from envelopes.approvals.service import expire_due
from envelopes.runtime import intake, store
from envelopes.sidebar import sidebar
from tests import factories

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's plans, which name every scan"),
]


def _page_of(who: Principal) -> None:
    sidebar(sessions_for(who), current="")


@pytest.mark.parametrize(
    "work",
    [
        lambda: _page_of(Principal(owner_key="k" * 64)),
        lambda: _page_of(Principal(user=factories.make_user())),
        store.runnable_sessions,
        store.orphaned_jobs,
        expire_due,
        secrets.purge,
        intake.forget_messages,
    ],
    ids=["a visitor's list", "a person's list", "queues", "jobs", "approvals", "secrets", "client messages"],
)
def test_it_scans_no_table(work: object) -> None:
    with CaptureQueriesContext(connection) as queries:
        work()  # type: ignore[operator]
    plans = []
    with connection.cursor() as cursor:
        for query in queries.captured_queries:
            if query["sql"].startswith(("SELECT", "DELETE")):
                cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
                plans += [f"{line[-1]} in {query['sql']}" for line in cursor.fetchall()]
    assert plans
    assert [plan for plan in plans if plan.startswith("SCAN envelopes_")] == []
