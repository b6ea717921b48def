"""Approvals without a person: by a rule of the tool's policy, or since a person has just approved the very same call.

Each is an approval of its own, with a decision of its own, and its call runs once as any other.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from envelopes.approvals import rules
from envelopes.approvals.rules import StoredRule
from envelopes.models import Approval, AuditEntry, Decision
from envelopes.models.audit import AuditKind
from envelopes.registries.policies import Ask, AutoApprove
from envelopes.registries.statuses import ApprovalStatus, CallStatus

POLICY_PREFIX = "policy:"


class ByRule(NamedTuple):
    """Which rule approves: ``by`` is what decisions hold; ``name`` what people call it or, of an ``earlier`` approval
    that is taken once more, whoever had given that."""

    by: str
    name: str
    earlier: Approval | None = None


def approving(approval: Approval, answer: Ask | AutoApprove, now: datetime) -> ByRule | None:
    """The rule that approves a question that is being asked; None where people are to decide."""
    if isinstance(answer, AutoApprove):
        return ByRule(f"{POLICY_PREFIX}{answer.name}", answer.label or answer.name)
    earlier = _reusable(approval, answer, now)
    if earlier is None:
        return None
    whose = next((one.name for one in earlier.decisions.all() if one.name), "")
    return ByRule(f"{POLICY_PREFIX}reuse:{earlier.approval_id}", whose, earlier)


def _reusable(approval: Approval, ask: Ask, now: datetime) -> Approval | None:
    """The newest approval by people of this very call here, within the window, whose call has an end that is known. By
    the same rule as is asked by now: what was enough then may not be, and whoever decided may be barred. One that
    came with a file says what it likes: only this site's own log tells who decided."""
    if ask.reuse_within is None:
        return None
    same = Approval.objects.filter(
        session=approval.session_id,
        handler=approval.handler,
        tool_name=approval.tool_name,
        digest=approval.digest,
        state=ApprovalStatus.GRANTED,
        decided_at__gt=now - timedelta(seconds=ask.reuse_within),
        tool_call__state__in=[CallStatus.SUCCEEDED, CallStatus.FAILED],
    )
    decided = AuditEntry.objects.filter(approval_id=OuterRef("approval_id"), kind=AuditKind.DECIDED)
    same = same.filter(Exists(decided))
    # A reuse is none of these: the window is counted from what a person has said.
    by_rules = Decision.objects.filter(by__startswith=POLICY_PREFIX).values("approval")
    newest = same.exclude(pk__in=by_rules).order_by("-decided_at").prefetch_related("decisions").first()
    return newest if newest is not None and _would_do(newest, rules.stored(approval)) else None


def _would_do(earlier: Approval, now: StoredRule) -> bool:
    """Whether what was decided then decides by the rule of now: it asks the same people, and bars none who decided."""
    then = rules.stored(earlier)
    is_same = (then.deciders, then.needed, then.four_eyes) == (now.deciders, now.needed, now.four_eyes)
    return is_same and not any(one.by in now.barred for one in earlier.decisions.all())
