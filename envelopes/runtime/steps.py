"""The steps of a turn as they are stored: what follows a reply, what the calls gave, how it ends.

Synchronous; each function is one fenced transaction, so a crash between two of them loses nothing: whoever takes the
turn over finds the last assistant message with the calls that are not answered yet, and goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from envelopes.approvals import service as approvals
from envelopes.conf import setting
from envelopes.errors import ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.models import Injection, ToolCall, Turn
from envelopes.protocol.respond import RESPOND
from envelopes.providers.transcript import (
    correction_block,
    extended,
    injection_block,
    resumable,
    tool_result,
    without_thinking,
)
from envelopes.registries.actors import actors
from envelopes.registries.state_machines import TURN
from envelopes.registries.turn_states import turn_states
from envelopes.runtime.reply import last_reply
from envelopes.runtime.store import Claim
from envelopes.runtime.turns import fail, hand_over, settle, turn_data
from envelopes.types import JsonObject

Next = Literal["step", "model", "stop"]


@dataclass
class Loaded:
    """What a step needs to know. ``calls`` are the tool calls of the last reply that have no answer yet."""

    turn: Turn
    calls: list[ToolCall] = field(default_factory=list)


def load(claim: Claim) -> Loaded:
    """Read the turn and what of its last reply is unanswered."""
    turn = Turn.objects.select_related("session").get(pk=claim.turn_pk)
    ids = [block["id"] for block in last_reply(turn) if block.get("type") == "tool_use"]
    missing = [call_id for call_id in ids if call_id not in turn.results]
    calls = list(turn.tool_calls.filter(call_id__in=missing).select_related("approval").order_by("position"))
    return Loaded(turn, calls)


def use_model(claim: Claim, turn: Turn, model: str) -> None:
    """The turn goes on with another model: thinking belongs to the one that wrote it, and is refused by others."""
    with writing(claim.session_pk, fence=claim.fence):
        turn.model = model
        turn.messages = without_thinking(turn.messages)
        turn.save(update_fields=["model", "messages"])


def end_reply(
    claim: Claim, stop_reason: str | None, usage: JsonObject, *, prose: bool, cut: list[str]
) -> Next:
    """Decide what follows a reply: run its calls, ask the model again, settle, or give up.

    ``cut`` are streamed bubbles that never became a part.
    """
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        turn.steps += 1
        turn.recoveries = 0
        turn.live = {}
        writer.add("provider", {"stopReason": stop_reason, "usage": usage, "step": turn.steps}, turn=turn)
        if cut:
            writer.add("withdrawn", {"live": cut}, turn=turn)
        ending = _ENDINGS.get(stop_reason or "")
        if ending is not None:
            turn.save(update_fields=["steps", "recoveries", "live"])
            fail(writer, turn, *ending)
            return "stop"
        reply = last_reply(turn)
        calls = [block for block in reply if block.get("type") == "tool_use"]
        others = [block for block in calls if block["name"] != RESPOND]
        declared = [
            turn.results.get(block["id"], {}).get("ok") for block in calls if block["name"] == RESPOND
        ]
        settled = next((ok for ok in reversed(declared) if ok), None)
        if settled and turn_states[settled["turnState"]].terminal and not others:
            if settled.get("passTo"):
                hand_over(writer, turn, settled["passTo"])
            else:
                state = settled["turnState"]
                settle(writer, turn, turn_state=state, finalized_by=_finalized(state))
            return "stop"
        correction = ""
        if stop_reason == "max_tokens":
            correction = (
                "Your reply was cut at the length limit. What was complete is kept. Go on, in shorter calls."
            )
        elif not calls:
            correction = (
                "Nothing of that reached anyone: the only way to say something is the tool respond()."
            )
        elif prose:
            correction = "Text outside respond() reached nobody."
        if not calls or stop_reason == "max_tokens":
            turn.corrections += 1
        if turn.corrections > setting("BEACH_MAX_CORRECTIONS"):
            turn.save()
            fail(
                writer,
                turn,
                "model_misbehaved",
                "The model did not manage to answer in the form it has to use.",
            )
            return "stop"
        turn.correction = " ".join(filter(None, (turn.correction, correction)))
        turn.save(update_fields=["steps", "recoveries", "live", "corrections", "correction"])
        return "step"


_ENDINGS = {
    "refusal": ("model_refused", "The model declined to answer this."),
    "model_context_window_exceeded": (
        "too_long",
        "This conversation has become too long for the model. Start a new one.",
    ),
}
"""Stop reasons after which asking again changes nothing: code and sentence."""


def _finalized(state: str) -> str:
    return state if state in ("complete", "clarifying", "error") else "complete"


def give_up(claim: Claim, code: str, text: str, *, title: str = "This answer could not be finished") -> None:
    """``fail`` as a step of its own."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        fail(writer, Turn.objects.get(pk=claim.turn_pk), code, text, title=title)


def withdraw(claim: Claim, live: list[str], error: JsonObject) -> None:
    """Take back the streamed text of a reply that broke off, and keep why."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        turn.live = {}
        turn.messages = resumable(turn.messages)
        turn.save(update_fields=["live", "messages"])
        writer.add("provider", {"error": error}, turn=turn)
        if live:
            writer.add("withdrawn", {"live": live}, turn=turn)


def cancel(claim: Claim, partial: list[tuple[str, str, str]]) -> None:
    """Settle a turn that the person stopped. What they had read of it stays, as a part marked as cut:
    ``partial`` is ``(live key, part type, text)``."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        for key, part_type, text in partial:
            part: JsonObject = {"text": text, "metadata": {"partType": part_type, "cut": "stopped"}}
            writer.add(
                "part", {"part": part, "turnState": "awaiting", "live": key}, part_type=part_type, turn=turn
            )
        settle(writer, turn, turn_state="error", finalized_by="cancelled")


def answer_calls(claim: Claim) -> Next:
    """When every call of the last reply has its answer, give them to the model; else ask, or wait.

    Called after whatever could run has run.
    """
    with writing(claim.session_pk, fence=claim.fence) as writer:
        loaded = load(claim)
        if loaded.calls:
            return _ask_or_go_on(writer, loaded)
        turn = loaded.turn
        reply = [block for block in last_reply(turn) if block.get("type") == "tool_use"]
        only_spoke = bool(reply) and all(block["name"] == RESPOND for block in reply)
        refused = any("error" in turn.results.get(block["id"], {}) for block in reply)
        injections = list(turn.injections.filter(consumed_at=None))
        if only_spoke and not refused and not injections and _has_jobs(turn):
            _leave(turn, "waiting")
            turn.save()
            writer.add("turn", turn_data(turn, "waiting", reason="job"), turn=turn)
            return "stop"
        if injections or not only_spoke:
            turn.nudges = 0
        elif not refused:
            turn.nudges += 1
        given_up = _too_much(turn)
        if given_up:
            fail(writer, turn, *given_up)
            return "stop"
        blocks = [_result_block(block["id"], turn.results.get(block["id"], {})) for block in reply]
        blocks += [_consume(writer, injection) for injection in injections]
        if turn.nudges > 1 and not turn.correction:
            turn.correction = "You said that more is to come. Call a tool now, or answer and settle."
        if turn.correction:
            blocks.append(correction_block(turn.correction))
        turn.correction = ""
        turn.messages = extended(turn.messages, "user", blocks)
        turn.results = {}
        turn.save()
        return "model"


def _ask_or_go_on(writer: Writer, loaded: Loaded) -> Next:
    """Some calls have no answer: those that were never run need a person."""
    turn = loaded.turn
    asking = [call for call in loaded.calls if call.state == "requested"]
    for call in asking:
        tool = actors[turn.actor].tool(call.name)
        if tool is None:
            raise ValidationFailed(f"The tool {call.name!r} is gone.")
        approvals.ask(writer, turn, call, tool)
    if not any(call.state == "awaiting-approval" for call in [*asking, *loaded.calls]):
        return "step"
    _leave(turn, "suspended")
    turn.turn_state = "suspended"
    turn.save()
    writer.add("turn", turn_data(turn, "suspended", reason="approval"), turn=turn)
    return "stop"


def _has_jobs(turn: Turn) -> bool:
    return turn.tool_calls.filter(background=True, state="running").exists()


def _too_much(turn: Turn) -> tuple[str, str] | None:
    """Code and sentence, when this turn has used up its patience (R6: whoever cuts says so)."""
    most = setting("BEACH_MAX_CORRECTIONS")
    if turn.corrections > most:
        return "model_misbehaved", "The model did not manage to answer in the form it has to use."
    if turn.nudges > most:
        return "no_answer", "The model kept saying that it is at work and never answered."
    if turn.steps >= setting("BEACH_MAX_STEPS"):
        return "too_many_steps", f"This took {turn.steps} steps without an end and was stopped."
    return None


def _consume(writer: Writer, injection: Injection) -> JsonObject:
    injection.consumed_at = writer.now
    injection.save(update_fields=["consumed_at"])
    data = injection.data
    return injection_block(
        injection.kind, data.get("payload"), tool=data.get("tool", ""), call_id=data.get("callId", "")
    )


def _leave(turn: Turn, status: str) -> None:
    TURN.check(turn.status, status)
    turn.status, turn.lease_owner, turn.lease_until, turn.live = status, "", None, {}


def _result_block(call_id: str, result: JsonObject) -> JsonObject:
    if "error" in result:
        return tool_result(call_id, result["error"], is_error=True)
    return tool_result(call_id, result.get("ok"))
