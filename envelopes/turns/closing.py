"""Calls that are open when their turn ends."""

from __future__ import annotations

from envelopes.log.append import Writer
from envelopes.models import ToolCall, Turn
from envelopes.registries.actors import actors
from envelopes.registries.statuses import UNFINISHED, CallStatus
from envelopes.turns.outcomes import UNKNOWN, Outcome, record_outcome
from envelopes.turns.stopping import TOLD, Stopper
from envelopes.types import JsonObject


def is_stopped(finalized_by: str) -> bool:
    """Whether a turn with this end was stopped: by somebody, or by the end of its time."""
    return finalized_by in ("cancelled", "timeout")


def _stopped(finalized_by: str, by: Stopper) -> JsonObject | None:
    """What a call is told that ends because its turn was stopped."""
    match finalized_by:
        case "cancelled":
            return {"code": "cancelled", "message": TOLD[by]}
        case "timeout":
            return {"code": "turn_timeout", "message": "The turn ran out of time."}
        case _:
            return None


def close_calls(writer: Writer, turn: Turn, finalized_by: str, by: Stopper) -> None:
    """Give every call that nobody will finish an end: one that may have taken effect is unknown, for staff to resolve
    (D19); others were not run, or not to their end. Jobs go on after their turn, unless it was stopped: then those of
    turns that were passed on to it end too. ``by`` counts where it was cancelled."""
    stopped = _stopped(finalized_by, by)
    lineage = {earlier.pk: earlier for earlier in turn.lineage()} | {turn.pk: turn}
    unfinished = ToolCall.objects.filter(turn__in=lineage, state__in=UNFINISHED)
    for call in unfinished.select_related("approval"):
        asker = lineage[call.turn_id]
        outcome = _left_at(call, asker, stopped)
        if outcome is not None:
            if call.background:
                # Whoever runs it, in whatever process, has to end its code.
                writer.wake_runner()
            record_outcome(writer, asker, call, outcome)


def _left_at(call: ToolCall, turn: Turn, stopped: JsonObject | None) -> Outcome | None:
    """How a call ends that nobody will finish; None for a job that goes on."""
    if call.background and call.state == CallStatus.RUNNING and stopped is None:
        return None
    if call.state != CallStatus.RUNNING:
        return Outcome("failed", error={"code": "not_run", "message": "The turn ended before this was run."})
    actor = actors.get(turn.actor)
    tool = actor.tool(call.name) if actor else None
    if tool is not None and tool.idempotent:
        ended: JsonObject = {"code": "not_finished", "message": "The turn ended before this was done."}
        return Outcome("failed", error=stopped or ended)
    if stopped is None:
        return Outcome("unknown", error=UNKNOWN)
    told = f"{stopped['message']} It was running, and whether it took effect is not known."
    return Outcome("unknown", error={**UNKNOWN, "message": told})
