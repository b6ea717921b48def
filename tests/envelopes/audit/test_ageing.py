"""The end of entries: their time, and the data of a person. The chain holds after both."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from envelopes.approvals.service import decide
from envelopes.audit import ageing, chain
from envelopes.audit.ageing import AuditBroken, prune, prune_old
from envelopes.audit.guards import statements
from envelopes.audit.verifying import verify
from envelopes.models import AuditChain, AuditEntry
from envelopes.models.audit import PERSONAL
from tests import factories

pytestmark = pytest.mark.django_db

NOW = timezone.now()


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


@pytest.fixture
def old_and_new() -> list[int]:
    """Six entries, four of them of forty days ago; their numbers."""
    for age in (40, 40, 0):
        ada = factories.make_principal(factories.make_user())
        decide(factories.make_approval(factories.make_session(ada)).approval_id, "denied", ada, reason="No.")
        entries = list(AuditEntry.objects.order_by("-number")[:2][::-1])
        if age:
            _as_of(entries, NOW - timedelta(days=age))
    return list(AuditEntry.objects.order_by("number").values_list("number", flat=True))


def _as_of(entries: list[AuditEntry], at: Any) -> None:
    """Write them again as if they had been written then: the newest ones of the chain."""
    head = chain.locked_head()
    first = entries[0].number
    AuditChain.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM envelopes_auditentry WHERE number >= %s", [first])
    head.number = first - 1
    previous = AuditEntry.objects.filter(number=head.number).first()
    head.digest = previous.chain_digest if previous else ""
    head.seal = chain.seal(head)
    head.save(force_insert=True)
    for entry in entries:
        entry.pk, entry.at = None, at
    chain.append(entries)


def test_what_is_old_goes_and_the_rest_is_verified_from_the_anchor(old_and_new: list[int]) -> None:
    gone = AuditEntry.objects.get(number=4)

    assert prune(NOW - timedelta(days=30)) == 4

    head = AuditChain.objects.get()
    assert (head.first, head.anchor) == (5, gone.chain_digest)
    assert list(AuditEntry.objects.order_by("number").values_list("number", flat=True)) == [5, 6, 7]
    pruned = AuditEntry.objects.get(number=7)
    assert pruned.facts == {"count": 4, "upto": 4, "digest": gone.chain_digest}
    verdict = verify()
    assert (verdict.problem, verdict.first, verdict.number) == ("", 5, 7)
    assert prune(NOW - timedelta(days=30)) == 0


def test_nothing_is_old_by_default_and_the_newest_entry_stays(old_and_new: list[int], settings: Any) -> None:
    assert prune_old() == 0
    settings.BEACH_AUDIT_DAYS = 30
    assert prune_old() == 4
    assert prune(NOW + timedelta(days=1)) == 2
    # Only what pruning has left is there: that is no reason to go on.
    assert prune(NOW + timedelta(days=1)) == 0
    assert verify().problem == ""


def test_what_was_tampered_with_is_not_deleted(old_and_new: list[int]) -> None:
    with connection.cursor() as cursor:
        for text in statements(connection.vendor):
            if text.startswith("DROP"):
                cursor.execute(text)
        cursor.execute("UPDATE envelopes_auditentry SET reason = 'Yes.' WHERE number = 2")

    with pytest.raises(AuditBroken, match="Entry 2"):
        prune(NOW - timedelta(days=30))

    assert AuditEntry.objects.count() == 6


def test_erased_content_is_gone_and_the_chain_holds(old_and_new: list[int]) -> None:
    assert ageing.erase(AuditEntry.objects.filter(number__in=[1, 2, 3, 6])) == 4

    for entry in AuditEntry.objects.filter(number__in=[1, 2, 3, 6]):
        assert not entry.salt and not any(getattr(entry, name) for name in PERSONAL)
        assert entry.kind and entry.role and entry.content_digest
    assert AuditEntry.objects.get(number=7).facts == {"count": 4, "entries": [[1, 3], [6, 6]]}
    verdict = verify()
    assert (verdict.problem, verdict.erased) == ("", 4)
    assert ageing.erase(AuditEntry.objects.filter(number__in=[1, 2])) == 0
    # And what was erased may grow old.
    assert prune(NOW - timedelta(days=30)) == 4
    assert verify().problem == ""
