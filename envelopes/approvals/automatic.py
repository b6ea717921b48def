"""Approvals without a person: by a rule of the tool's policy, or since a person has just approved the very same call.

Each is an approval of its own, with a decision of its own, and its call runs once as any other.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from envelopes.approvals import rights, rules
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
    """The newest approval by people of this very call here, within the window, whose call has an end that is known, and
    since which nothing else has come of that call. By the same rule as is asked by now, and by people who may still
    decide: what was enough then may not be. One that came with a file says what it likes: only this site's own log
    tells who decided."""
    if ask.reuse_within is None:
        return None
    same = Approval.objects.filter(
        session=approval.session_id,
        handler=approval.handler,
        tool_name=approval.tool_name,
        digest=approval.digest,
    ).exclude(pk=approval.pk)
    granted = same.filter(
        state=ApprovalStatus.GRANTED,
        decided_at__gt=now - timedelta(seconds=ask.reuse_within),
        tool_call__state__in=_ENDED,
    )
    decided = AuditEntry.objects.filter(approval_id=OuterRef("approval_id"), kind=AuditKind.DECIDED)
    granted = granted.filter(Exists(decided))
    # A reuse is none of these: the window is counted from what a person has said.
    by_rules = Decision.objects.filter(by__startswith=POLICY_PREFIX).values("approval")
    newest = granted.exclude(pk__in=by_rules).order_by("-decided_at").prefetch_related("decisions").first()
    if newest is None or _is_doubtful(newest, same) or not _would_do(newest, approval):
        return None
    return newest


_ENDED = [CallStatus.SUCCEEDED, CallStatus.FAILED]


def _is_doubtful(earlier: Approval, same: QuerySet[Approval]) -> bool:
    """Whether the same call is before somebody now, was refused or left unanswered later, or has run since to an end
    that nobody knows."""
    later = same.filter(Q(decided_at__gte=earlier.decided_at) | Q(decided_at=None)).exclude(pk=earlier.pk)
    return later.exclude(state=ApprovalStatus.GRANTED, tool_call__state__in=_ENDED).exists()


def _would_do(earlier: Approval, now: Approval) -> bool:
    """Whether what was decided then decides by the rule of now: it asks the same people, who may decide still, and bars
    none of them."""
    then, rule = rules.stored(earlier), rules.stored(now)
    if (then.deciders, then.needed, then.four_eyes) != (rule.deciders, rule.needed, rule.four_eyes):
        return False
    given = [one for one in earlier.decisions.all() if one.version == earlier.version]
    return all(one.by not in rule.barred and rights.may_still(one, now) for one in given)
