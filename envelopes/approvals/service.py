"""Approvals: asked for, decided, expired. Nothing else changes an approval's state (R4).

A question is stored before it is shown and bound to the digest of one exact call. A decision is one conditional
update; every later click is told what happened and is recorded beside it, never instead of it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from django.db import transaction
from django.utils import timezone

from envelopes.access import Principal, may_decide, visible_sessions
from envelopes.conf import setting
from envelopes.errors import AlreadyDecided, BeachError, Expired, Forbidden, NotFound, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.models import Approval, ToolCall, Turn
from envelopes.protocol.payloads import ApprovalRequest, ApprovalResponse
from envelopes.protocol.text import clean_text, clip
from envelopes.protocol.time import instant
from envelopes.registries.state_machines import APPROVAL, TOOL_CALL, TURN
from envelopes.registries.tools import Tool
from envelopes.runtime.turns import turn_data
from envelopes.signals import approval_decided
from envelopes.types import JsonObject

Source = Literal["chat", "admin", "policy"]
EXPIRY_POLICY = "policy:expiry"


def ask(writer: Writer, turn: Turn, call: ToolCall, tool: Tool) -> Approval:
    """Store the question for ``call`` and append its ``approval-request`` part; the call now awaits it."""
    policy = tool.approval
    if policy is None:
        raise ValidationFailed(f"The tool {tool.name!r} needs no approval.")
    args = tool.input.model_validate(call.args)
    patience = (
        setting("BEACH_APPROVAL_SECONDS") if policy.expires_after == "setting" else policy.expires_after
    )
    expires = None if patience is None else writer.now + timedelta(seconds=float(patience))
    TOOL_CALL.check(call.state, "awaiting-approval")
    call.state = "awaiting-approval"
    call.save(update_fields=["state"])
    approval = Approval.objects.create(
        tool_call=call,
        session=writer.session,
        turn=turn,
        tool_name=call.name,
        args=call.args,
        handler=turn.actor,
        expires_at=expires,
        digest=call.digest,
        risk=policy.risk,
        question=clip(clean_text(policy.question(args)), 512),
        why=clip(clean_text(policy.why(args)), 512),
        attempt=1 + Approval.objects.filter(session=writer.session, digest=call.digest).count(),
        requested_at=writer.now,
    )
    request = ApprovalRequest(
        approvalId=approval.approval_id,
        toolName=call.name,
        toolCallId=call.call_id,
        args=call.args,
        handler=turn.actor,
        turn=turn.public_id,
        session=writer.session.public_id,
        expiresAt=instant(expires) if expires else None,
    )
    metadata: JsonObject = {
        "partType": "approval-request",
        "digest": approval.digest,
        "risk": approval.risk,
        "riskNote": policy.risk_note,
        "question": approval.question,
        "why": approval.why,
        "label": tool.label,
        "attempt": approval.attempt,
        "fields": tool.fields,
    }
    writer.add(
        "part",
        {
            "part": {"data": request.model_dump(exclude_none=True), "metadata": metadata},
            "turnState": "suspended",
        },
        part_type="approval-request",
        turn=turn,
    )
    return approval


def decide(
    approval_id: str, decision: str, who: Principal, *, reason: str = "", source: Source = "chat"
) -> Approval:
    """Decide an approval, once.

    Raises what ``may_answer`` does, and ``AlreadyDecided`` and ``Expired`` with what happened. A late click is recorded
    in the log; it changes nothing.
    """
    session_pk = may_answer(approval_id, decision, who)
    with writing(session_pk) as writer:
        decided = answer(writer, approval_id, decision, who, reason=reason, source=source)
    if isinstance(decided, BeachError):
        raise decided
    return decided


def may_answer(approval_id: str, decision: str, who: Principal) -> int:
    """The key of the session whose approval ``who`` may decide with that word.

    Raises ``ValidationFailed`` for another word than granted or denied, ``NotFound`` when it does not exist or is not
    theirs to see, ``Forbidden`` when they may see but not decide it.
    """
    if decision not in ("granted", "denied"):
        raise ValidationFailed("A decision is 'granted' or 'denied'.", allowed=["granted", "denied"])
    known = Approval.objects.select_related("session")
    found = known.filter(approval_id=approval_id).first() if approval_id.isalnum() else None
    if found is None or not (
        may_decide(who, found.session) or visible_sessions(who).filter(pk=found.session_id).exists()
    ):
        raise NotFound("This request does not exist, or you do not have access to it.")
    if not may_decide(who, found.session):
        raise Forbidden("You can view this request but not decide it.")
    return found.session_id


def answer(
    writer: Writer, approval_id: str, decision: str, who: Principal, *, reason: str, source: Source
) -> Approval | BeachError:
    """Decide inside an open append, after ``may_answer``. What comes too late is recorded, and the error that tells so
    is returned, not raised: the record has to be committed."""
    reason = clip(clean_text(reason), 512)
    approval = _current(approval_id)
    late = _expire_if_due(writer, approval, reader=who.key) or _late(approval, who.key)
    if late is not None:
        writer.add(
            "late-decision",
            {
                "approvalId": approval_id,
                "decision": decision,
                "by": who.key,
                "reason": reason,
                "source": source,
            },
            turn=approval.turn,
        )
        return late
    approval.decided_by_user = who.user
    approval.source = source
    _settle(writer, approval, decision, by=who.key, name=who.name, reason=reason)
    return approval


def expire_due(now: datetime | None = None) -> int:
    """Expire every pending approval whose time has passed; returns how many. Run by the sweeper."""
    moment = now or timezone.now()
    due = Approval.objects.filter(state="pending", expires_at__lte=moment).values_list(
        "approval_id", "session_id"
    )
    expired = 0
    for approval_id, session_id in list(due):
        with writing(session_id) as writer:
            approval = _current(approval_id)
            expired += approval.state == "pending" and _expire_if_due(writer, approval, moment) is not None
    return expired


def _current(approval_id: str) -> Approval:
    return Approval.objects.select_related("turn", "tool_call", "decided_by_user").get(
        approval_id=approval_id
    )


def _late(approval: Approval, reader: str) -> BeachError | None:
    """What somebody is told who comes too late; ``reader`` is their key."""
    if approval.state == "pending":
        return None
    if approval.state == "expired":
        return Expired("This request expired before anyone decided. Nothing ran.", state="expired")
    done = "approved" if approval.state == "granted" else "denied"
    mine = reader and approval.decided_by == reader
    return AlreadyDecided(
        f"You already {done} this." if mine else f"This was already {done} by {_decider(approval)}.",
        state=approval.state,
        decidedAt=instant(approval.decided_at) if approval.decided_at else None,
        reason=approval.reason,
    )


def _decider(approval: Approval) -> str:
    """A name: the stored keys tell principals apart, and tell people nothing."""
    user = approval.decided_by_user
    return user.get_short_name() or user.get_username() if user is not None else "the visitor"


def _expire_if_due(
    writer: Writer, approval: Approval, now: datetime | None = None, *, reader: str = ""
) -> BeachError | None:
    if (
        approval.state != "pending"
        or approval.expires_at is None
        or approval.expires_at > (now or writer.now)
    ):
        return None
    approval.source = "policy"
    _settle(writer, approval, "expired", by=EXPIRY_POLICY, name=EXPIRY_POLICY, reason="expired")
    return _late(approval, reader)


def _settle(writer: Writer, approval: Approval, state: str, *, by: str, name: str, reason: str) -> None:
    APPROVAL.check(approval.state, state)
    changed = Approval.objects.filter(pk=approval.pk, state="pending").update(
        state=state,
        decided_at=writer.now,
        decided_by=by[:128],
        decided_by_user=approval.decided_by_user,
        reason=reason,
        source=approval.source,
    )
    if changed != 1:
        raise AlreadyDecided
    approval.state, approval.decided_at, approval.decided_by, approval.reason = (
        state,
        writer.now,
        by[:128],
        reason,
    )
    call = approval.tool_call
    following = "approved" if state == "granted" else "denied"
    TOOL_CALL.check(call.state, following)
    call.state = following
    call.save(update_fields=["state"])
    response = ApprovalResponse(
        approvalId=approval.approval_id,
        decision="granted" if state == "granted" else "denied",
        reason=reason or None,
        decidedBy=by,
        decidedAt=instant(writer.now),
    )
    metadata: JsonObject = {"partType": "approval-response", "decidedByName": name, "source": approval.source}
    turn = approval.turn
    writer.add(
        "part",
        {
            "part": {"data": response.model_dump(exclude_none=True), "metadata": metadata},
            "turnState": turn.turn_state,
        },
        part_type="approval-response",
        turn=turn,
    )
    if turn.status == "suspended" and not turn.approvals.filter(state="pending").exists():
        TURN.check(turn.status, "queued")
        Turn.objects.filter(pk=turn.pk).update(status="queued")
        writer.add("turn", turn_data(turn, "queued", reason="approval"), turn=turn)
        writer.wake_runner()
    transaction.on_commit(
        lambda: approval_decided.send(
            sender=Approval,
            approval_id=approval.approval_id,
            state=state,
            decided_by=by,
            source=approval.source,
        )
    )
