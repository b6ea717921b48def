"""Conversations that are over: deleted, with all that belongs to them, once they are old (BEACH_RETENTION_DAYS)."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from envelopes.conf import conf
from envelopes.models import Approval, Session, Turn
from envelopes.records.erasing import erase_conversation
from envelopes.registries.statuses import ApprovalStatus, TurnStatus

RETIRED_AT_ONCE = 20


def retire() -> int:
    """Delete what nobody has written in for BEACH_RETENTION_DAYS, some conversations at a time; returns how many were
    deleted. 0 where the setting is 0.

    One in which something is at work or waits for a decision stays. So does the content of audit entries: that has a
    time of its own (BEACH_AUDIT_DAYS).
    """
    days = conf.BEACH_RETENTION_DAYS
    if not days:
        return 0
    asked = Approval.objects.filter(state=ApprovalStatus.PENDING).values("session")
    at_work = Turn.objects.exclude(status=TurnStatus.SETTLED).values("session")
    old = Session.objects.filter(updated_at__lt=timezone.now() - timedelta(days=days))
    found = old.exclude(pk__in=asked).exclude(pk__in=at_work).order_by("updated_at", "pk")
    # Each is looked at again as it goes: somebody may have come back to it while the others went.
    return sum(
        erase_conversation(pk, found, audit=False)
        for pk in list(found.values_list("pk", flat=True)[:RETIRED_AT_ONCE])
    )
