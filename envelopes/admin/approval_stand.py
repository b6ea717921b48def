"""Where one approval stands, for its page while that stands open: asked again and again, so by a few queries over
keys."""

from __future__ import annotations

from typing import Literal, NamedTuple

from envelopes.approvals.stored import is_over, state_of
from envelopes.models import Approval
from envelopes.registries.statuses import ApprovalStatus, CallStatus, TurnStatus

Again = Literal["soon", "later", "never"]


class Stand(NamedTuple):
    """``version`` is another text whenever the page of the approval would be another, ``rows`` a higher number whenever
    its conversation would. ``again`` is when to ask next: never once nothing more comes."""

    version: str
    rows: int
    again: Again


def stand_of(approval: Approval, *, with_conversation: bool) -> Stand:
    """``approval`` with its call, its turn and its session. ``with_conversation``: the page shows that too."""
    call = approval.tool_call
    is_pending = approval.state == ApprovalStatus.PENDING
    given = sum(one.version == approval.version for one in approval.decisions.all()) if is_pending else ""
    facts = (approval.approval_id, state_of(approval), is_over(approval), given, call.finished_at)
    rows = approval.session.last_seq if with_conversation else 0
    return Stand(" ".join(map(str, facts)), rows, _again(approval))


def _again(approval: Approval) -> Again:
    """It waits, or runs, or the agent still has to say something about it; then nothing comes by itself, but another
    question of the turn may be answered, or staff may find out how a call ended."""
    call, turn = approval.tool_call.state, approval.turn.status
    if approval.state == ApprovalStatus.PENDING or call in (CallStatus.APPROVED, CallStatus.RUNNING):
        return "soon"
    if turn in (TurnStatus.QUEUED, TurnStatus.RUNNING):
        return "soon"
    return "later" if call == CallStatus.UNKNOWN or turn != TurnStatus.SETTLED else "never"
