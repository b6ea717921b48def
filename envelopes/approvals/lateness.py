"""What somebody is told whose decision changes nothing: decided, changed or expired before, or their second one."""

from __future__ import annotations

from envelopes.approvals import rules
from envelopes.approvals.automatic import POLICY_PREFIX
from envelopes.errors import AlreadyChanged, AlreadyDecided, BeachError, Expired
from envelopes.models import Approval, ApprovalVersion, Decision
from envelopes.protocol.time import instant
from envelopes.registries.statuses import ApprovalStatus


def late_for(
    approval: Approval, was: ApprovalVersion | None, reader: str, role: str | None
) -> BeachError | None:
    """The error that tells ``reader`` (a key, with the ``role`` by which they decide) what has happened; None where
    their decision counts. ``was`` is the version that they decide about, where it is not asked any more."""
    if was is not None and was.cause == "expired":
        return Expired("This request expired before anyone decided. It was asked again.", state="expired")
    if approval.state == ApprovalStatus.PENDING:
        return _changed(approval, was, reader) if was is not None else _second(approval, reader, role)
    if approval.state == ApprovalStatus.EXPIRED:
        return Expired("This request expired before anyone decided. Nothing ran.", state="expired")
    done = "approved" if approval.state == ApprovalStatus.GRANTED else "denied"
    mine = (
        reader
        and approval.decisions.filter(version=approval.version, by=reader, decision=approval.state).exists()
    )
    return AlreadyDecided(
        f"You already {done} this." if mine else f"This was already {done} by {_decider(approval)}.",
        state=approval.state,
        decidedAt=instant(approval.decided_at) if approval.decided_at else None,
        reason=approval.reason,
    )


def _changed(approval: Approval, was: ApprovalVersion, reader: str) -> AlreadyChanged:
    who = "You have" if was.by == reader else f"{_name(was.by_user, was.name) or 'The visitor'} has"
    return AlreadyChanged(
        f"{who} changed this request. Read it again before you decide.",
        state=approval.state,
        approvalId=approval.approval_id,
    )


def _second(approval: Approval, reader: str, role: str | None) -> AlreadyDecided | None:
    """A second decision about a question that others still have to decide. The owner is one person, whatever key they
    had when they decided first."""
    given = approval.decisions.filter(version=approval.version)
    mine = given.filter(by=reader).first() or (
        given.filter(role="owner").first() if role == "owner" else None
    )
    if mine is None:
        return None
    missing = rules.stored(approval).needed - given.count()
    more = "One more person has" if missing == 1 else f"{missing} more people have"
    return AlreadyDecided(
        f"You already approved this. {more} to approve before it runs.",
        state=approval.state,
        decidedAt=instant(mine.at),
        reason=mine.reason,
    )


def _decider(approval: Approval) -> str:
    """A name: the stored keys tell principals apart, and tell people nothing."""
    if approval.decided_by.startswith(POLICY_PREFIX):
        return "a rule"
    last = Decision.objects.filter(approval=approval, version=approval.version).order_by("-at", "-pk").first()
    return _name(approval.decided_by_user, last.name if last is not None else "") or "the visitor"


def _name(user: object, written: str) -> str:
    if user is not None:
        return str(user.get_short_name() or user.get_username())  # type: ignore[attr-defined]
    return written
