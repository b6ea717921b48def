"""Numbers in addresses and forms of the desk that no column holds, and of which Python reads some as no number."""

from __future__ import annotations

import pytest
from django.test import Client

from envelopes.models import Approval, Session, Turn
from tests import factories
from tests.envelopes.admin.pages import VIEW, client_of, one_of_each, url

pytestmark = pytest.mark.django_db

NUMBERS = ["9" * 5000, "9" * 30, str(2**63), "-1", "\u0663", "x"]


@pytest.fixture
def operator() -> Client:
    permissions = (*VIEW, "decide_approval", "operate_session")
    return client_of(factories.make_user("olga", staff=True, permissions=permissions))


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:12])
def test_a_number_that_no_column_holds_is_answered(operator: Client, number: str) -> None:
    rows = one_of_each()
    session, approval = rows[Session], rows[Approval]

    listed = operator.get(url(Turn, "changelist"), {"id__in": number})
    log = operator.get(url(session, "change"), {"page": number})
    queue = operator.get(url(Approval, "changelist"), {"part": "rows", "shown": f"{number},1"})
    chosen = {"action": "deny_selected", "_selected_action": [number]}
    denied = operator.post(url(Approval, "changelist"), chosen)
    chosen["_selected_action"] = [number, str(approval.pk)]
    beside = operator.post(url(Approval, "changelist"), chosen)
    claim = {"act": "claim", "instead": number}
    claimed = operator.post(url(session, "conversation"), claim, headers={"accept": "application/json"})

    assert [one.status_code for one in (log, queue, denied, beside, claimed)] == [200, 200, 302, 200, 200]
    assert listed.status_code in (200, 302, 400)
