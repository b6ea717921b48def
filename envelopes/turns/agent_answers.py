"""Answers to calls of agents' functions: who has to give one, and how it becomes a row. Synchronous."""

from __future__ import annotations

from django.db.models import F
from django.utils import timezone

from a2ui import CallsDue, Diagnostic, SurfaceSet
from envelopes.conf import conf
from envelopes.log.append import writing
from envelopes.models import AgentCall
from envelopes.protocol.rows import AgentAnswerData
from envelopes.turns.agent_calls import end, make
from envelopes.turns.leases import is_dead
from envelopes.turns.surfaces import trying
from envelopes.types import JsonObject


def waiting() -> tuple[list[tuple[int, int]], set[int]]:
    """Calls that somebody has to see to now, ``(key, key of the session)``: those that a tool answers and nobody runs,
    and those that have waited too long. And all calls that there are."""
    now = timezone.now()
    found = list(AgentCall.objects.defer("args", "originators"))
    free = [(call.pk, call.session_id) for call in found if call.deadline <= now or _is_free(call)]
    return free, {call.pk for call in found}


def _is_free(call: AgentCall) -> bool:
    """Whether a tool is to run it and nobody does."""
    return call.by_tool and (call.lease_until is None or is_dead(call.lease_owner))


def claim(call_pk: int, owner: str) -> AgentCall | None:
    """Take a call over, to run its tool; None where somebody has it, or it is over. Answers one that has waited too
    long."""
    call = AgentCall.objects.filter(pk=call_pk).first()
    if call is None:
        return None
    if call.deadline <= timezone.now():
        late = f"No answer within {conf.BEACH_FUNCTION_SECONDS:g} seconds."
        answer(call, {"error": {"code": "TIMEOUT", "message": late}}, source="timeout")
        return None
    if not _is_free(call):
        return None
    changed = AgentCall.objects.filter(pk=call_pk, attempt=call.attempt).update(
        attempt=F("attempt") + 1, lease_owner=owner, lease_until=call.deadline
    )
    call.attempt += 1
    return call if changed else None


def answer(call: AgentCall, body: JsonObject, *, source: str) -> bool:
    """Store the answer, ``{value}`` or ``{error: {code, message}}``, unless the call is over or somebody else has taken
    it. What surfaces refuse (a value that is too large) is answered with the error instead. Returns whether it was
    stored."""
    with writing(call.session_id) as writer:
        current = AgentCall.objects.filter(pk=call.pk, attempt=call.attempt).first()
        if current is None:
            return False
        message: JsonObject = {
            "version": call.version,
            "agentFunctionResponse": {"functionCallId": call.call_id, **body},
        }

        def answered(surfaces: SurfaceSet) -> tuple[list[Diagnostic], list[CallsDue]]:
            refused = [one for one in surfaces.apply(message, owner=call.owner) if one.refused]
            surfaces.flush()
            return refused, surfaces.calls.due()

        refused, due = trying(writer, answered)
        if refused and "error" not in body:
            error = {"code": refused[0].code, "message": refused[0].message}
            message["agentFunctionResponse"] = {"functionCallId": call.call_id, "error": error}
            refused, due = trying(writer, answered)
        end(writer, [call.call_id])
        if refused:
            return False
        data: AgentAnswerData = {"owner": call.owner, "message": message, "source": source}
        writer.add("agent-answer", data, actor=call.owner)
        make(writer, due, originators=current.originators, hops=current.hops)
        return True
