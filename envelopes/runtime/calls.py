"""Tool calls as they are stored: claimed before they run, finished once (D19)."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Literal

from django.utils import timezone

from envelopes.conf import setting
from envelopes.errors import LeaseLost, ValidationFailed
from envelopes.log.append import JobFence, Writer, writing
from envelopes.log.digest import call_digest
from envelopes.models import Approval, Injection, ToolCall, Turn
from envelopes.protocol.text import clean_text, clip
from envelopes.registries.actors import actors
from envelopes.registries.state_machines import TOOL_CALL
from envelopes.registries.tools import Tool
from envelopes.runtime.emitting import emit_unfinished
from envelopes.runtime.store import Claim
from envelopes.runtime.turns import inject, tell_call
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

Ended = Literal["succeeded", "failed", "unknown"]

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
        TOOL_CALL.check(call.state, "running")
        if not is_as_asked(call):
            logger.error("Call %s of session %s is not what was asked.", call.pk, claim.session_pk)
            turn = Turn.objects.get(pk=claim.turn_pk)
            _end(writer, turn, call, "failed", None, CHANGED)
            turn.results[call.call_id] = {"error": CHANGED}
            turn.save(update_fields=["results"])
            return None
        changed = ToolCall.objects.filter(pk=call_pk, state=call.state).update(
            state="running",
            claimed_at=writer.now,
            attempt=call.attempt + 1,
            lease_owner=owner if call.background else "",
            lease_until=timezone.now() + timedelta(seconds=setting("BEACH_LEASE_SECONDS"))
            if call.background
            else None,
        )
        if changed != 1:
            raise LeaseLost
        call.state, call.attempt = "running", call.attempt + 1
        if call.background:
            turn = call.turn
            turn.results[call.call_id] = {
                "ok": {"status": "started", "note": "The result comes later, by itself."}
            }
            turn.save(update_fields=["results"])
        tell_call(writer, call.turn, call, "running")
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
        return digest == call.digest and call.state != "approved"
    return approval.state == "granted" and digest == call.digest == approval.digest == shown


def finish_call(
    claim: Claim, call: ToolCall, state: Ended, result: Json = None, error: JsonObject | None = None
) -> None:
    """Store the outcome of a call that the turn waited for."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        _end(writer, turn, call, state, result, error)
        turn.results[call.call_id] = {"error": error} if error is not None else {"ok": result}
        turn.save(update_fields=["results"])


def deny_call(claim: Claim, call: ToolCall) -> None:
    """Give the model the denial, as the result of its call."""
    with writing(claim.session_pk, fence=claim.fence):
        approval = call.approval
        turn = Turn.objects.get(pk=claim.turn_pk)
        expired = approval.state == "expired"
        told = (
            "Nobody decided in time, so it was not run."
            if expired
            else "A person denied this call. It was not run."
        )
        error = {"code": "expired" if expired else "denied", "message": told, "reason": approval.reason}
        turn.results[call.call_id] = {"error": error}
        turn.save(update_fields=["results"])


def finish_job(
    call: ToolCall, attempt: int, state: Ended, result: Json = None, error: JsonObject | None = None
) -> None:
    """Store the outcome of a background call and inject it into its turn."""
    with writing(call.session_id, fence=JobFence(call.pk, attempt)) as writer:
        turn = Turn.objects.select_related("session").get(pk=call.turn_id)
        _end(writer, turn, call, state, result, error)
        payload = {"error": error} if error is not None else {"result": result}
        data = {"payload": payload, "tool": call.name, "callId": call.call_id}
        inject(writer, turn, Injection.objects.create(turn=turn, kind="tool-result", data=data))


def _end(
    writer: Writer, turn: Turn, call: ToolCall, state: Ended, result: Json, error: JsonObject | None
) -> None:
    ran = call.state == "running"
    TOOL_CALL.check(call.state, state)
    ToolCall.objects.filter(pk=call.pk).update(
        state=state, result=result, error=error, finished_at=writer.now, lease_owner="", lease_until=None
    )
    actor = actors.get(turn.actor)
    tool = actor.tool(call.name) if actor else None
    kind = tool.data_kind if tool else None
    writer.add(
        "tool-result",
        {
            "callId": call.call_id,
            "name": call.name,
            "state": state,
            "result": result,
            "error": error,
            "dataKind": kind,
        },
        turn=turn,
    )
    summary = _summary(tool, call, result) if state == "succeeded" else ""
    call.state = state
    tell_call(writer, turn, call, state, summary=summary, error=error)
    if ran and state != "succeeded":
        emit_unfinished(writer, turn, call)


def _summary(tool: Tool | None, call: ToolCall, result: Json) -> str:
    if tool is None or tool.approval is None:
        return ""
    try:
        return clip(clean_text(tool.approval.done(tool.input.model_validate(call.args), result)), 512)
    except Exception:
        # The tool has run: a fault in its sentence must not cost the record of that.
        logger.exception("The sentence of %s about its result raised.", tool.name)
        return ""
