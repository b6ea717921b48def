"""The chat's approval card in the admin: the same view, filled from the stored question and its row of the log."""

from __future__ import annotations

from django.utils.safestring import SafeString

from envelopes.admin.approval_state import decider_of
from envelopes.approvals.stored import card_of, context_of
from envelopes.markup.approval import DecisionPage
from envelopes.models import Approval


def card(approval: Approval, form: DecisionPage) -> SafeString:
    """The card as the conversation shows it, for the reader of this page: their language and time zone."""
    return card_of(approval, decider_of(approval)).card(context_of(approval), form)
