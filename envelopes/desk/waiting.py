"""How many approvals wait, for the head of every page, and what tells that something has changed: bounded queries over
indexes."""

from __future__ import annotations

from django.db.models import QuerySet

from envelopes.models import Approval

WAITING_COUNTED = 99
"""The count goes no further; the page then says that there are more."""


def waiting_count(seen: QuerySet[Approval]) -> int:
    """How many of those that somebody may see; at most ``WAITING_COUNTED`` + 1."""
    return seen.filter(state="pending").order_by()[: WAITING_COUNTED + 1].count()


def version() -> str:
    """Another text after every question that was asked and every one that was decided."""
    newest = Approval.objects.order_by("-pk").values_list("pk", flat=True).first()
    decided = Approval.objects.filter(decided_at__isnull=False).order_by("-decided_at")
    last = decided.values_list("decided_at", "pk").first()
    return f"{newest} {last}"
