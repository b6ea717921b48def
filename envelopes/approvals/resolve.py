"""What staff found out about a call whose outcome nobody knew (D19). The only way out of ``unknown``."""

from __future__ import annotations

from typing import Literal

from envelopes.access import Principal, visible_sessions
from envelopes.errors import AlreadyDecided, Conflict, Forbidden, NotFound, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.models import Injection, ToolCall
from envelopes.protocol.text import clean_text, is_blank
from envelopes.registries.state_machines import TOOL_CALL
from envelopes.runtime.turns import inject
from envelopes.types import JsonObject

Outcome = Literal["succeeded", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("succeeded", "failed")
NOTE_CHARACTERS = 512


def resolve(call_pk: int, outcome: str, who: Principal, *, note: str) -> ToolCall:
    """Say what became of a call in state ``unknown``, once. ``note`` is what the owner and the agent read.

    Nothing is run. Raises ``ValidationFailed`` for another word or without a note, ``NotFound`` and ``Forbidden`` as
    for a decision, ``AlreadyDecided`` when it has been resolved before, ``Conflict`` when there is nothing to resolve.
    """
    if outcome not in OUTCOMES:
        raise ValidationFailed("An outcome is 'succeeded' or 'failed'.", allowed=list(OUTCOMES))
    note = clean_text(note).strip()
    if is_blank(note):
        raise ValidationFailed("Explain how you know: the customer and the agent will see it.", path="/note")
    if len(note) > NOTE_CHARACTERS:
        raise ValidationFailed(
            f"The note has {len(note):,} characters; the limit is {NOTE_CHARACTERS}.", path="/note"
        )
    call = ToolCall.objects.filter(pk=call_pk).first()
    if call is None or not (
        who.may_decide_all() or visible_sessions(who).filter(pk=call.session_id).exists()
    ):
        raise NotFound("This call does not exist, or you do not have access to it.")
    if not who.may_decide_all():
        raise Forbidden("You can view this call but not record its outcome.")
    with writing(call.session_id) as writer:
        call = ToolCall.objects.select_related("turn__session").get(pk=call_pk)
        if call.state in OUTCOMES:
            raise AlreadyDecided(f"This is already settled: the call has {call.state}.", state=call.state)
        if call.state != "unknown":
            raise Conflict(
                f"Only a call whose outcome is unknown can be resolved; this one is {call.state}.",
                state=call.state,
            )
        _store(writer, call, outcome, who, note)
    return call


def _store(writer: Writer, call: ToolCall, outcome: str, who: Principal, note: str) -> None:
    TOOL_CALL.check(call.state, outcome)
    by = who.name or who.key
    result: JsonObject | None = None
    error: JsonObject | None = None
    if outcome == "succeeded":
        result = {"status": "succeeded", "note": note, "resolvedBy": by}
    else:
        error = {"code": "failed", "message": note, "resolvedBy": by}
    changed = ToolCall.objects.filter(pk=call.pk, state="unknown").update(
        state=outcome, result=result, error=error, finished_at=writer.now
    )
    if changed != 1:
        raise AlreadyDecided("Someone else has just settled this.")
    call.state, call.result, call.error, call.finished_at = outcome, result, error, writer.now
    writer.add(
        "tool-result",
        {
            "callId": call.call_id,
            "name": call.name,
            "state": outcome,
            "result": result,
            "error": error,
            # A note is no data of that kind, whatever the tool declares.
            "dataKind": None,
            "resolvedBy": who.key,
        },
        turn=call.turn,
    )
    approval = getattr(call, "approval", None)
    if approval is not None:
        told: JsonObject = {
            "callId": call.call_id,
            "name": call.name,
            "state": outcome,
            "approvalId": approval.approval_id,
            "resolvedBy": by,
        }
        writer.add("tool", told | ({"summary": note} if error is None else {"error": error}), turn=call.turn)
    if call.turn.status != "settled":
        payload = {"error": error} if error is not None else {"result": result}
        data = {"payload": payload, "tool": call.name, "callId": call.call_id}
        inject(writer, call.turn, Injection.objects.create(turn=call.turn, kind="tool-result", data=data))
