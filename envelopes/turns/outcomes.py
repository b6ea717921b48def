"""How a tool call ended: recorded in one place, whoever finds out."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Literal

from envelopes import audit
from envelopes.access import Principal
from envelopes.errors import Conflict
from envelopes.log.append import Writer
from envelopes.models import ToolCall, Turn
from envelopes.protocol.rows import ToolData, ToolResultData
from envelopes.protocol.text import clean_text, clip
from envelopes.registries.actors import actors
from envelopes.registries.statuses import TOOL_CALL, CallStatus
from envelopes.registries.tools import Tool
from envelopes.turns.emitting import emit_unfinished
from envelopes.turns.parts import append_parts
from envelopes.turns.stamping import data_part
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

Ended = Literal["succeeded", "failed", "unknown"]

UNKNOWN: JsonObject = {
    "code": "outcome_unknown",
    "message": "The server stopped while this was running. Whether it took effect is not known.",
}


@dataclass(frozen=True)
class Outcome:
    """``error`` is ``{code, message, ...}`` of a call that did not succeed. ``resolved_by`` is who found out what had
    become of a call, and ``note`` what they wrote: no result of the tool."""

    state: Ended
    result: Json = None
    error: JsonObject | None = None
    resolved_by: Principal | None = None
    note: str = ""

    @property
    def told(self) -> JsonObject:
        """As the model reads it."""
        return {"error": self.error} if self.error is not None else {"result": self.result}


def record_outcome(writer: Writer, turn: Turn, call: ToolCall, outcome: Outcome) -> None:
    """Store how ``call`` of ``turn`` ended and tell it: to the log, to the card of whoever was asked, and, where it ran
    without a result, as the tool's last word.

    Of a result that is data, ``show_result`` makes the part. Raises ``TransitionRefused`` when it cannot end so,
    ``Conflict`` when it is not in the state that it was read in.
    """
    before = call.state
    TOOL_CALL.check(before, outcome.state)
    if before == CallStatus.RUNNING and call.claimed_at is not None:
        # What staff find out later makes it no longer.
        call.seconds = round((writer.now - call.claimed_at).total_seconds(), 3)
    changed = ToolCall.objects.filter(pk=call.pk, state=before).update(
        state=outcome.state,
        result=outcome.result,
        error=outcome.error,
        finished_at=writer.now,
        seconds=call.seconds,
        tries=call.tries,
        lease_owner="",
        lease_until=None,
    )
    if changed != 1:
        raise Conflict("Someone else has just settled this.")
    call.state, call.result, call.error = outcome.state, outcome.result, outcome.error
    call.finished_at = writer.now
    actor = actors.get(turn.actor)
    tool = actor.tool(call.name) if actor else None
    data: ToolResultData = {
        "callId": call.call_id,
        "name": call.name,
        "state": outcome.state,
        "result": outcome.result,
        "error": outcome.error,
        # A note is no data of that kind, whatever the tool declares.
        "dataKind": tool.data_kind if tool is not None and outcome.resolved_by is None else None,
    }
    if data["dataKind"] and outcome.state == "succeeded":
        data["shown"] = True
    if outcome.resolved_by is not None:
        data["resolvedBy"] = outcome.resolved_by.key
    writer.add("tool-result", data, turn=turn.holder(), actor=turn.actor)
    tell_call(writer, turn, call, outcome, summary=outcome.note or _summary(tool, call, outcome))
    audit.executed(writer, call, outcome.state, outcome.resolved_by)
    if before == CallStatus.RUNNING and outcome.state != "succeeded":
        emit_unfinished(writer, turn, call)


def show_result(writer: Writer, turn: Turn, call: ToolCall) -> None:
    """Append the result of a call that has succeeded as data of the turn that has it now, once: whoever follows has it
    as soon as it is there (envelope document, "Assembly and delivery"; D11)."""
    actor = actors.get(turn.actor)
    tool = actor.tool(call.name) if actor else None
    if tool is None or tool.data_kind is None or call.state != CallStatus.SUCCEEDED:
        return
    part = data_part(tool.data_kind, call.result, turn.actor)
    append_parts(writer, turn.holder(), [part], "runtime", actor=turn.actor)


def tell_call(
    writer: Writer, turn: Turn, call: ToolCall, outcome: Outcome | None = None, *, summary: str = ""
) -> None:
    """A ``tool`` row, for calls that a person was asked about: their card shows what became of it."""
    approval = getattr(call, "approval", None)
    if approval is None:
        return
    data: ToolData = {
        "callId": call.call_id,
        "name": call.name,
        "state": call.state,
        "approvalId": approval.approval_id,
    }
    if outcome is not None and outcome.resolved_by is not None:
        data["resolvedBy"] = outcome.resolved_by.name or outcome.resolved_by.key
    if outcome is not None and outcome.error is not None:
        data["error"] = outcome.error
    elif summary:
        data["summary"] = summary
    writer.add("tool", data, turn=turn)


def _summary(tool: Tool | None, call: ToolCall, outcome: Outcome) -> str:
    if tool is None or tool.approval is None or outcome.state != "succeeded":
        return ""
    try:
        done = tool.approval.done(tool.input.model_validate(call.args), outcome.result)
        return clip(clean_text(done), 512)
    except Exception:
        # The tool has run: a fault in its sentence must not cost the record of that.
        logger.exception("The sentence of %s about its result raised.", tool.name)
        return ""
