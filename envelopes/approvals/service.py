"""Approvals: asked for, decided, expired. Nothing else changes an approval's state (R4).

A question is stored before it is shown and bound to the digest of one exact call. A decision is one conditional
update; every later click is told what happened and is recorded beside it, never instead of it.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from envelopes import audit
from envelopes.access import Principal, may_decide, visible_sessions
from envelopes.approvals import showing
from envelopes.approvals.parts import request_part, response_part
from envelopes.conf import conf
from envelopes.errors import AlreadyDecided, BeachError, Expired, Forbidden, NotFound, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.models import Approval, Session, ToolCall, Turn
from envelopes.protocol.rows import LateDecisionData
from envelopes.protocol.text import clean_text, clip
from envelopes.protocol.time import instant
from envelopes.registries.actors import actors
from envelopes.registries.doors import CHAT, POLICY, doors
from envelopes.registries.statuses import (
    APPROVAL,
    TOOL_CALL,
    TURN,
    ApprovalStatus,
    CallStatus,
    TurnStatus,
)
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.signals import approval_decided
from envelopes.turns.deciding import resumes
from envelopes.turns.lifecycle import turn_data
from envelopes.turns.parts import append_parts

EXPIRY_POLICY = "policy:expiry"


def ask(writer: Writer, turn: Turn, call: ToolCall, tool: Tool) -> Approval:
    """Store the question for ``call`` and append its ``approval-request`` part; the call now awaits it."""
    policy = tool.approval
    if policy is None:
        raise ValidationFailed(f"The tool {tool.name!r} needs no approval.")
    args = tool.input.model_validate(call.args)
    TOOL_CALL.check(call.state, CallStatus.AWAITING_APPROVAL)
    call.state = CallStatus.AWAITING_APPROVAL
    call.save(update_fields=["state"])
    approval = Approval.objects.create(
        tool_call=call,
        session=writer.session,
        turn=turn,
        tool_name=call.name,
        args=call.args,
        handler=turn.actor,
        expires_at=_expiry(policy, writer.now),
        digest=call.digest,
        risk=policy.risk,
        question=clip(clean_text(policy.question(args)), 512),
        why=clip(clean_text(policy.why(args)), 512),
        attempt=1 + Approval.objects.filter(session=writer.session, digest=call.digest).count(),
        requested_at=writer.now,
    )
    audit.asked(writer, approval)
    append_parts(writer, turn, [request_part(approval, call, turn, tool)], "runtime", state="suspended")
    showing.show(writer, turn, approval, tool)
    return approval


def _expiry(policy: ApprovalPolicy, now: datetime) -> datetime | None:
    seconds = conf.BEACH_APPROVAL_SECONDS if policy.expires_after == "setting" else policy.expires_after
    return None if seconds is None else now + timedelta(seconds=float(seconds))


def decide(
    approval_id: str, decision: str, who: Principal, *, reason: str = "", source: str = CHAT.name
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
    known = Approval.objects.select_related("session", "turn")
    found = known.filter(approval_id=approval_id).first() if approval_id.isalnum() else None
    may = found is not None and may_decide(who, found.session, _peers(found))
    if found is None or not (may or visible_sessions(who).filter(pk=found.session_id).exists()):
        raise NotFound("This request does not exist, or you do not have access to it.")
    if not may:
        raise Forbidden("You can view this request but not decide it.")
    return found.session_id


def _peers(approval: Approval) -> Collection[str]:
    """Who may decide besides people, as the tool says today: a question that stood open before has no say in it."""
    actor = actors.get(approval.turn.actor)
    tool = actor.tool(approval.tool_name) if actor is not None else None
    return tool.approval.peers if tool is not None and tool.approval is not None else ()


def answer(
    writer: Writer, approval_id: str, decision: str, who: Principal, *, reason: str, source: str
) -> Approval | BeachError:
    """Decide inside an open append, after ``may_answer``. ``source`` is the name of a door (``registries.doors``);
    raises ``ValidationFailed`` where nobody registered it. What comes too late is recorded, and the error that tells so
    is returned, not raised: the record has to be committed."""
    if source not in doors:
        raise ValidationFailed(f"There is no approval door {source!r}.", allowed=doors.names())
    reason = clip(clean_text(reason), 512)
    approval = _current(approval_id)
    late = _expire_if_due(writer, approval, reader=who.key) or _late(approval, who.key)
    if late is not None:
        record: LateDecisionData = {
            "approvalId": approval_id,
            "decision": decision,
            "by": who.key,
            "reason": reason,
            "source": source,
        }
        writer.add("late-decision", record, turn=approval.turn)
        audit.refused(writer, approval, who, decision, late, door=source, reason=reason)
        return late
    approval.decided_by_user = who.user
    approval.source = source
    _settle(writer, approval, decision, by=who.key, name=who.name, reason=reason)
    audit.record(
        writer, "decided", approval, who=who, door=source, reason=reason, facts={"decision": decision}
    )
    return approval


def expire_due(now: datetime | None = None) -> int:
    """Expire every pending approval whose time has passed; returns how many. Waits for sessions that are locked."""
    return sum(expire(approval_id, session, now) for approval_id, session in due_approvals(now))


def due_approvals(now: datetime | None = None) -> list[tuple[str, int]]:
    """``(approval, session)`` of every pending approval whose time has passed."""
    due = Approval.objects.filter(state=ApprovalStatus.PENDING, expires_at__lte=now or timezone.now())
    return list(due.values_list("approval_id", "session_id"))


def expire(approval_id: str, session_pk: int, now: datetime | None = None, *, wait: bool = True) -> bool:
    """Expire one of ``due_approvals``; whether that was done. Without ``wait``, not in a session that somebody has
    locked (on PostgreSQL; SQLite locks none by itself)."""
    with transaction.atomic():
        if not wait and not Session.objects.select_for_update(skip_locked=True).filter(pk=session_pk).first():
            return False
        with writing(session_pk) as writer:
            return _expire_if_due(writer, _current(approval_id), now) is not None


def _current(approval_id: str) -> Approval:
    return Approval.objects.select_related("turn", "tool_call", "decided_by_user").get(
        approval_id=approval_id
    )


def _late(approval: Approval, reader: str) -> BeachError | None:
    """What somebody is told who comes too late; ``reader`` is their key."""
    if approval.state == ApprovalStatus.PENDING:
        return None
    if approval.state == ApprovalStatus.EXPIRED:
        return Expired("This request expired before anyone decided. Nothing ran.", state="expired")
    done = "approved" if approval.state == ApprovalStatus.GRANTED else "denied"
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
        approval.state != ApprovalStatus.PENDING
        or approval.expires_at is None
        or approval.expires_at > (now or writer.now)
    ):
        return None
    approval.source = POLICY.name
    _settle(writer, approval, ApprovalStatus.EXPIRED, by=EXPIRY_POLICY, name=EXPIRY_POLICY, reason="expired")
    audit.record(writer, "expired", approval, by=EXPIRY_POLICY, role=audit.RULE, door=POLICY.name)
    return _late(approval, reader)


def _settle(writer: Writer, approval: Approval, state: str, *, by: str, name: str, reason: str) -> None:
    """Store a decision, tell it, and let the turn go on when it was the last one that it waited for."""
    APPROVAL.check(approval.state, state)
    approval.state, approval.decided_at, approval.decided_by, approval.reason = (
        state,
        writer.now,
        by[:128],
        reason,
    )
    changed = Approval.objects.filter(pk=approval.pk, state=ApprovalStatus.PENDING).update(
        state=state,
        decided_at=approval.decided_at,
        decided_by=approval.decided_by,
        decided_by_user=approval.decided_by_user,
        reason=reason,
        source=approval.source,
    )
    if changed != 1:
        raise AlreadyDecided
    call, turn = approval.tool_call, approval.turn
    following = CallStatus.APPROVED if state == ApprovalStatus.GRANTED else CallStatus.DENIED
    TOOL_CALL.check(call.state, following)
    call.state = following
    call.save(update_fields=["state"])
    append_parts(writer, turn, [response_part(approval, name)], "inbound")
    showing.end(writer, approval)
    if resumes(turn.status, pending=turn.approvals.filter(state=ApprovalStatus.PENDING).exists()):
        _resume(writer, turn)
    transaction.on_commit(
        lambda: approval_decided.send(
            sender=Approval,
            approval_id=approval.approval_id,
            state=state,
            decided_by=by,
            source=approval.source,
        )
    )


def _resume(writer: Writer, turn: Turn) -> None:
    """Nobody is asked any more: what the tools of this turn say from here on is said at work."""
    TURN.check(turn.status, TurnStatus.QUEUED)
    turn.status, turn.turn_state = TurnStatus.QUEUED, "awaiting"
    turn.save(update_fields=["status", "turn_state"])
    writer.add("turn", turn_data(turn, turn.status, reason="approval"), turn=turn)
    writer.wake_runner()
