"""Where an approval stands, in one word: its own state and that of the call it is about."""

from __future__ import annotations

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from envelopes.admin.display import state_mark
from envelopes.admin.people import People, account_name
from envelopes.approvals.stored import outcome, state_of
from envelopes.desk.times import length
from envelopes.models import Approval


def mark_of(approval: Approval) -> SafeString:
    state = state_of(approval)
    words = {
        "pending": _("Pending"),
        "approved": _("Approved, about to run"),
        "running": _("Running"),
        "succeeded": _("Done"),
        "failed": _("Failed"),
        "unknown": _("Outcome unknown"),
        "denied": _("Denied"),
        "expired": _("Expired"),
    }
    return state_mark(state, words.get(state, ""))


def decider_of(approval: Approval, reader: str = "") -> str:
    """Who decided, by the name of the account where there is one; empty while nobody has. ``reader`` is the key of
    whoever is told: to them, and nobody else, it is "you"."""
    if not approval.decided_by:
        return ""
    user = approval.decided_by_user
    accounts = {approval.decided_by: account_name(user)} if user is not None else {}
    return People(reader, accounts=accounts).name(approval.decided_by)


def took(approval: Approval) -> str:
    """Time to decision."""
    return length(approval.decided_at - approval.requested_at) if approval.decided_at else ""


def outcome_sentence(approval: Approval, reader: str = "") -> str:
    """What happened to a question, for somebody who comes too late."""
    return outcome(approval, decider_of(approval, reader))
