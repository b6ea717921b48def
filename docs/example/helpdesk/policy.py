"""Who approves a refund: that depends on the amount, on whose conversation it is, and on what happened in it before."""

from __future__ import annotations

from envelopes import Answer, ApprovalPolicy, Ask, Asking, AutoApprove, Permission
from helpdesk.models import Refund

REGULARS = "Regulars"
"""The group of customers whose small refunds nobody looks at: one in each conversation."""
SMALL = 20
LARGE = 200

OUR_STAFF = Permission("helpdesk.add_refund")


def rule(asking: Asking) -> Answer:
    """It may ask the database, as in a view. What it answers is stored with the question."""
    small = asking.args.euros < SMALL
    regular = asking.user is not None and asking.user.groups.filter(name=REGULARS).exists()
    first = not Refund.objects.filter(conversation=asking.session_id).exists()
    if small and regular and first:
        return AutoApprove("small-refund", "Small refund for a regular customer")
    if asking.args.euros >= LARGE:
        return Ask(deciders=[OUR_STAFF], needed=2, expires_after=24 * 3600)
    return Ask()


REFUNDS = ApprovalPolicy(
    question=lambda args: f"Refund {args.euros:.2f} euros for order {args.number}?",
    done=lambda args, result: f"Refunded {args.euros:.2f} euros for order {args.number}",
    risk="high",
    rule=rule,
)
