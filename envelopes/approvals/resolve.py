"""What staff found out about a call whose outcome nobody knew (D19). The only way out of ``unknown``."""

from __future__ import annotations

from envelopes.access import Principal, visible_sessions
from envelopes.errors import AlreadyDecided, Conflict, Forbidden, NotFound, ValidationFailed
from envelopes.log.append import writing
from envelopes.models import ToolCall
from envelopes.protocol.text import clean_text, is_blank
from envelopes.registries.statuses import CallStatus, TurnStatus
from envelopes.turns.lifecycle import inject_outcome
from envelopes.turns.outcomes import Outcome, record_outcome

OUTCOMES = ("succeeded", "failed")
NOTE_CHARACTERS = 512


def resolve(call_pk: int, outcome: str, who: Principal, *, note: str) -> ToolCall:
    """Say what became of a call in state ``unknown``, once. ``note`` is what the agent reads, at once or when its
    next turn begins, and the owner, where there is a card of the call.

    Nothing is run. Raises ``ValidationFailed`` for another word or without a note, ``NotFound`` and ``Forbidden`` as
    for a decision, ``AlreadyDecided`` when it has been resolved before, ``Conflict`` when there is nothing to resolve.
    """
    if outcome not in OUTCOMES:
        raise ValidationFailed("An outcome is 'succeeded' or 'failed'.", allowed=list(OUTCOMES))
    note = clean_text(note).strip()
    if is_blank(note):
        raise ValidationFailed("Explain how you know.", path="/note")
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
        if call.state != CallStatus.UNKNOWN:
            raise Conflict(
                f"Only a call whose outcome is unknown can be resolved; this one is {call.state}.",
                state=call.state,
            )
        found = _found_out(outcome, who, note)
        record_outcome(writer, call.turn, call, found)
        if call.turn.holder().status != TurnStatus.SETTLED:
            inject_outcome(writer, call.turn, call, found)
    return call


def _found_out(outcome: str, who: Principal, note: str) -> Outcome:
    by = who.name or who.key
    if outcome == CallStatus.SUCCEEDED:
        result = {"status": "succeeded", "note": note, "resolvedBy": by}
        return Outcome("succeeded", result, resolved_by=who, note=note)
    error = {"code": "failed", "message": note, "resolvedBy": by}
    return Outcome("failed", error=error, resolved_by=who)
