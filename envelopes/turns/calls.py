"""Tool calls as they are stored: claimed before they run, finished once (D19)."""

from __future__ import annotations

import logging

from envelopes.approvals.versions import told_edits, told_reasons
from envelopes.errors import LeaseLost, ValidationFailed
from envelopes.log.append import JobFence, writing
from envelopes.log.digest import call_digest
from envelopes.models import Approval, ToolCall, Turn
from envelopes.registries.statuses import TOOL_CALL, ApprovalStatus, CallStatus
from envelopes.turns.leases import Claim, lease_end
from envelopes.turns.lifecycle import inject_outcome
from envelopes.turns.outcomes import Ended, Outcome, record_outcome, show_result, tell_call
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

CHANGED: JsonObject = {
    "code": "changed_after_asking",
    "message": "What would have run is not what was asked. Nothing was run.",
}


def claim_call(claim: Claim, call_pk: int, owner: str) -> ToolCall | None:
    """Take a call for running; None when it is not what was asked any more: then it has failed, and that is told.

    Raises ``LeaseLost`` when it is not this turn's to run.
    """
    with writing(claim.session_pk, fence=claim.fence) as writer:
        call = ToolCall.objects.select_related("turn", "approval").get(pk=call_pk)
        TOOL_CALL.check(call.state, CallStatus.RUNNING)
        if not is_as_asked(call):
            logger.error("Call %s of session %s is not what was asked.", call.pk, claim.session_pk)
            turn = Turn.objects.get(pk=claim.turn_pk)
            record_outcome(writer, turn, call, Outcome("failed", error=CHANGED))
            turn.results[call.call_id] = {"error": CHANGED}
            turn.save(update_fields=["results"])
            return None
        changed = ToolCall.objects.filter(pk=call_pk, state=call.state).update(
            state=CallStatus.RUNNING,
            claimed_at=writer.now,
            attempt=call.attempt + 1,
            lease_owner=owner if call.background else "",
            lease_until=lease_end() if call.background else None,
        )
        if changed != 1:
            raise LeaseLost
        call.state, call.attempt, call.claimed_at = CallStatus.RUNNING, call.attempt + 1, writer.now
        if call.background:
            turn = call.turn
            started = {"status": "started", "note": "The result comes later, by itself."}
            turn.results[call.call_id] = _told(call, {"ok": started})
            turn.save(update_fields=["results"])
        tell_call(writer, call.turn, call)
        return call


def is_as_asked(call: ToolCall) -> bool:
    """Whether what would run is what the model called and, where a person was asked, what that person granted.

    Holds tool and arguments against the digest that the call got when it was made, and against the approval's own: the
    question, its arguments and its digest were stored before anybody saw them (R4).
    """
    approval: Approval | None = getattr(call, "approval", None)
    try:
        digest = call_digest(call.name, call.args)
        shown = digest if approval is None else call_digest(approval.tool_name, approval.args)
    except ValidationFailed:
        return False
    if approval is None:
        return digest == call.digest and call.state != CallStatus.APPROVED
    return approval.state == ApprovalStatus.GRANTED and digest == call.digest == approval.digest == shown


def finish_call(
    claim: Claim, call: ToolCall, state: Ended, result: Json = None, error: JsonObject | None = None
) -> None:
    """Store the outcome of a call that the turn waited for."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        record_outcome(writer, turn, call, Outcome(state, result, error))
        show_result(writer, turn, call)
        turn.results[call.call_id] = _told(call, {"error": error} if error is not None else {"ok": result})
        turn.save(update_fields=["results"])


def _told(call: ToolCall, result: JsonObject) -> JsonObject:
    """``result`` with what people changed of the call before they approved it (D20), and why they did."""
    approval: Approval | None = getattr(call, "approval", None)
    beside = {"approved": told_reasons(approval), "edited": told_edits(approval)}
    return {**result, **{kind: told for kind, told in beside.items() if told is not None}}


def deny_call(claim: Claim, call: ToolCall) -> None:
    """Give the model the denial, as the result of its call."""
    with writing(claim.session_pk, fence=claim.fence):
        approval = call.approval
        turn = Turn.objects.get(pk=claim.turn_pk)
        expired = approval.state == ApprovalStatus.EXPIRED
        told = (
            "Nobody decided in time, so it was not run."
            if expired
            else "A person denied this call. It was not run."
        )
        error = {"code": "expired" if expired else "denied", "message": told, "reason": approval.reason}
        turn.results[call.call_id] = {"error": error}
        turn.save(update_fields=["results"])


def note_tries(call: ToolCall) -> None:
    """Keep the runs of a call that was stopped. Its outcome was, or is, recorded by whoever stopped it: this says when
    its code ended, or that it did not."""
    ToolCall.objects.filter(pk=call.pk, attempt=call.attempt).update(tries=call.tries)


def finish_job(
    call: ToolCall, attempt: int, state: Ended, result: Json = None, error: JsonObject | None = None
) -> None:
    """Store the outcome of a background call and inject it into its turn."""
    with writing(call.session_id, fence=JobFence(call.pk, attempt)) as writer:
        turn = Turn.objects.select_related("session").get(pk=call.turn_id)
        outcome = Outcome(state, result, error)
        record_outcome(writer, turn, call, outcome)
        inject_outcome(writer, turn, call, outcome)
        # Behind that: where the turn has settled, there is one by now that goes on with it.
        show_result(writer, turn, call)
