"""How many approvals wait, for the head of every page: one bounded query over an index."""

from __future__ import annotations

from envelopes.models import Approval

WAITING_COUNTED = 99
"""The count goes no further; the page then says that there are more."""


def waiting_count() -> int:
    """At most ``WAITING_COUNTED`` + 1."""
    return Approval.objects.filter(state="pending").order_by()[: WAITING_COUNTED + 1].count()
