"""How a decision is stored, and what follows from the one that settles an approval. Only the service and what asks
call this."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from envelopes.approvals import showing
from envelopes.approvals.parts import response_part
from envelopes.approvals.rules import waited
from envelopes.errors import AlreadyDecided
from envelopes.log.append import Writer
from envelopes.models import Approval, Decider, Decision, Turn
from envelopes.protocol.text import clean_text
from envelopes.registries.statuses import (
    APPROVAL,
    TOOL_CALL,
    TURN,
    ApprovalStatus,
    CallStatus,
    TurnStatus,
)
from envelopes.signals import approval_decided
from envelopes.turns.deciding import resumes
from envelopes.turns.lifecycle import turn_data
from envelopes.turns.parts import append_parts


def record(
    writer: Writer,
    approval: Approval,
    decision: str,
    *,
    by: str,
    name: str,
    role: str,
    reason: str = "",
    user: Any = None,
) -> Decision:
    """Keep a decision. Raises ``IntegrityError`` for a second one of the same principal about the same version."""
    return Decision.objects.create(
        approval=approval,
        version=approval.version,
        decision=decision,
        by=by[:128],
        by_user=user,
        name=clean_text(name)[:255],
        role=role[:160],
        source=approval.source,
        reason=reason,
        digest=approval.digest,
        at=writer.now,
    )


def settle(writer: Writer, approval: Approval, state: str, *, by: str, name: str, reason: str) -> None:
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
    waited(approval, writer.now, state)
    call, turn = approval.tool_call, approval.turn
    following = CallStatus.APPROVED if state == ApprovalStatus.GRANTED else CallStatus.DENIED
    TOOL_CALL.check(call.state, following)
    call.state = following
    call.save(update_fields=["state"])
    Decider.objects.filter(approval=approval).delete()
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
