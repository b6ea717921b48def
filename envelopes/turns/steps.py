"""The steps of a turn as they are stored: what follows a reply, what the calls gave, how it ends.

Synchronous; each function is one fenced transaction, so a crash between two of them loses nothing: whoever takes the
turn over finds the last assistant message with the calls that are not answered yet, and goes on from there. While a
reply is written, the turn is not read again: its runner has it as it was stored last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from envelopes.approvals.asking import ask
from envelopes.approvals.rules import PolicyFailed
from envelopes.conf import conf
from envelopes.errors import LeaseLost, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.log.reserving import Reserved, reserving
from envelopes.models import ToolCall, Turn
from envelopes.models.turn import WRITTEN
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.rows import ProviderData
from envelopes.protocol.text import clean_text
from envelopes.providers.transcript import (
    correction_block,
    extended,
    injection_block,
    tool_result,
    without_thinking,
)
from envelopes.registries.actors import actors
from envelopes.registries.statuses import ApprovalStatus, CallStatus, TurnStatus
from envelopes.registries.tools import Tool
from envelopes.turns import agent_calls, delegating, joining, retrying, takeover
from envelopes.turns.day_costs import day_costs
from envelopes.turns.deciding import (
    Answer,
    Ask,
    Delegate,
    Fail,
    GoOn,
    PassOn,
    Prepared,
    PutAside,
    ReplyEnd,
    RetryLimits,
    Settle,
    Wait,
    after_calls,
    after_reply,
    calls_of,
    corrections_after,
    only_spoke,
)
from envelopes.turns.leases import Claim
from envelopes.turns.lifecycle import (
    consume,
    delegate,
    fail,
    hand_over,
    leave,
    put_aside,
    settle,
    time_out,
)
from envelopes.turns.outcomes import Outcome, record_outcome
from envelopes.turns.parts import append_parts
from envelopes.turns.reply import Block, Respond, Written, add_block
from envelopes.turns.results import bounded
from envelopes.turns.spending import Unfinished, charge, charge_asked, charge_unfinished
from envelopes.turns.stopping import stopped_by
from envelopes.types import JsonObject

Next = Literal["step", "model", "stop"]


@dataclass
class Loaded:
    """What a step needs to know. ``calls`` are the tool calls of the last reply that have no answer yet."""

    turn: Turn
    calls: list[ToolCall] = field(default_factory=list)


def load(claim: Claim) -> Loaded:
    """Read the turn and what of its last reply is unanswered. Raises ``LeaseLost`` where it has been erased."""
    turn = Turn.objects.select_related("session").filter(pk=claim.turn_pk).first()
    if turn is None:
        raise LeaseLost
    ids = [block["id"] for block in calls_of(turn)]
    missing = [call_id for call_id in ids if call_id not in turn.results]
    calls = list(turn.tool_calls.filter(call_id__in=missing).select_related("approval").order_by("position"))
    return Loaded(turn, calls)


def still_asked(claim: Claim) -> bool:
    """Whether the turn, which calls of surfaces opened, has anything to answer. It is settled where all of them are
    over: answered elsewhere, too late, or gone with their surface."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.select_related("session").get(pk=claim.turn_pk)
        if agent_calls.are_pending(turn):
            return True
        settle(writer, turn, turn_state="complete", finalized_by="complete", context="nothing-said")
        return False


def use_model(claim: Claim, turn: Turn, model: str) -> None:
    """The turn goes on with another model: thinking belongs to the one that wrote it, and is refused by others."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn.model = model
        turn.messages = without_thinking(turn.messages)
        writer.store(turn, ["model", "messages"])


def retry_limits(turn: Turn | None = None) -> RetryLimits:
    """Those of the settings; with ``turn``, also what its day has reached by the last ``day_costs.look``."""
    reached = None if turn is None else day_costs.reached(turn.originators, turn.session.timezone)
    return RetryLimits(
        corrections=conf.BEACH_MAX_CORRECTIONS,
        steps=conf.BEACH_MAX_STEPS,
        tokens=conf.BEACH_TURN_TOKENS,
        cost=conf.BEACH_TURN_COST,
        reached=None if reached is None else (reached.code, reached.message),
    )


def end_reply(
    claim: Claim, turn: Turn, ended: ReplyEnd, block: Block | None = None, *, prepared: Prepared | None = None
) -> Next:
    """Store the end of a reply, with its last block if that is not stored yet, and what follows (``after_reply``): its
    calls are to be run, or the turn is over.

    ``turn`` is what the runner has of it, and is changed: only who holds its lease changes what is decided by, and the
    fence sees to that. Raises ``LeaseLost``; after any error ``turn`` is worth nothing.
    """
    rows = 2 + bool(ended.cut) + (block.rows if isinstance(block, Respond | Written) else 0)
    rows += len(prepared.parts) + (prepared.asked is not None) if prepared is not None else 0
    with reserving(claim.session_pk, Reserved(rows), fence=claim.fence) as writer:
        if block is not None:
            add_block(writer, turn, block)
        turn.steps += 1
        turn.recoveries = 0
        turn.live = {}
        _tell_spent(writer, turn, ended, prepared or Prepared())
        if ended.cut:
            writer.add("withdrawn", {"live": list(ended.cut)}, turn=turn)
        match after_reply(turn, ended, retry_limits()):
            case GoOn(correction):
                turn.corrections = corrections_after(turn, ended)
                turn.correction = " ".join(filter(None, (turn.correction, correction)))
                writer.store(turn, [*WRITTEN, "steps", "recoveries"])
                return "step"
            case Fail(code, text):
                turn.corrections = corrections_after(turn, ended)
                fail(writer, turn, code, text)
            case PassOn(actor, turn_state):
                hand_over(writer, turn, actor, turn_state=turn_state)
            case Delegate(actor, task):
                delegate(writer, turn, actor, task)
            case PutAside():
                if not put_aside(writer, turn):
                    writer.store(turn, [*WRITTEN, "steps", "recoveries"])
                    return "step"
            case Settle(turn_state, finalized_by, retry):
                append_parts(writer, turn, (prepared or Prepared()).parts, "runtime", state=turn_state)
                context = prepared.context if prepared else ""
                settle(writer, turn, turn_state=turn_state, finalized_by=finalized_by, context=context)
                if retry is not None:
                    retrying.schedule(writer, turn, retry)
        return "stop"


def _tell_spent(writer: Writer, turn: Turn, ended: ReplyEnd, prepared: Prepared) -> None:
    data: ProviderData = {"stopReason": ended.stop_reason, "usage": ended.usage, "step": turn.steps}
    data |= charge(turn, ended.usage)
    if ended.estimated:
        data["estimated"] = True
    if ended.shortened:
        data["shortened"] = ended.shortened
    writer.add("provider", data, turn=turn)
    if prepared.asked is not None:
        writer.add("provider", charge_asked(turn, prepared.asked), turn=turn)


def give_up(claim: Claim, code: str, text: str, *, title: str = "This answer could not be finished") -> None:
    """``fail`` as a step of its own."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        fail(writer, Turn.objects.get(pk=claim.turn_pk), code, text, title=title)


def cancel(
    claim: Claim, partial: list[tuple[str, str, str, str]], unfinished: Unfinished | None = None
) -> None:
    """Settle a turn that somebody stopped. What was read of it stays, as a part marked as cut:
    ``partial`` is ``(live key, part type, text, part id)``; ``unfinished`` is what its last reply took."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        _keep_read(writer, turn, partial)
        _keep_spent(writer, turn, unfinished)
        settle(writer, turn, turn_state="error", finalized_by="cancelled", stopped_by=stopped_by(turn))


def end_time(
    claim: Claim, partial: list[tuple[str, str, str, str]], unfinished: Unfinished | None = None
) -> None:
    """Settle a turn whose time is up, as one that was stopped."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        _keep_read(writer, turn, partial)
        _keep_spent(writer, turn, unfinished)
        time_out(writer, turn)


def _keep_read(writer: Writer, turn: Turn, partial: list[tuple[str, str, str, str]]) -> None:
    cut = [_cut(part_type, text, part_id) for _, part_type, text, part_id in partial]
    live = {number: key for number, (key, *_) in enumerate(partial)}
    append_parts(writer, turn, cut, "actor", state="awaiting", live=live)


def _keep_spent(writer: Writer, turn: Turn, unfinished: Unfinished | None) -> None:
    if unfinished is not None:
        writer.add("provider", charge_unfinished(turn, unfinished), turn=turn)


def _cut(part_type: str, text: str, part_id: str) -> Part:
    """What there is of a part: not held against what a whole one of its type needs."""
    about = {"partType": part_type, "partId": part_id or None, "cut": "stopped"}
    return Part(text=clean_text(text), metadata=Metadata.model_validate(about))


def answer_calls(claim: Claim) -> Next:
    """When every call of the last reply has its answer, give them to the model; else ask, or wait.

    Called after whatever could run has run.
    """
    day_costs.look()
    with writing(claim.session_pk, fence=claim.fence) as writer:
        loaded = load(claim)
        turn = loaded.turn
        came = set() if loaded.calls else _came_in(turn)
        joined = [] if loaded.calls else joining.waiting(writer, turn)
        injected = bool(came or joined)
        jobs = not loaded.calls and not injected and only_spoke(turn) and _has_jobs(turn)
        answered = delegating.INJECTION in came
        match after_calls(
            turn, loaded.calls, retry_limits(turn), injected=injected, jobs=jobs, answered=answered
        ):
            case GoOn():
                return "step"
            case Ask(calls):
                if [call for call in calls if not _is_asked(writer, turn, call)]:
                    turn.save(update_fields=["results"])
                    return "step"
                turn.turn_state = "suspended"
                leave(writer, turn, TurnStatus.SUSPENDED, reason="approval")
            case Wait():
                leave(writer, turn, TurnStatus.WAITING, reason="job")
            case Fail(code, text):
                fail(writer, turn, code, text)
            case PassOn(actor, turn_state):
                hand_over(writer, turn, actor, turn_state=turn_state)
            case Delegate(actor, task):
                delegate(writer, turn, actor, task)
            case PutAside():
                put_aside(writer, turn)
            case Settle(turn_state, finalized_by, retry):
                settle(writer, turn, turn_state=turn_state, finalized_by=finalized_by, context="interrupted")
                if retry is not None:
                    retrying.schedule(writer, turn, retry)
            case Answer(nudges, correction):
                return _answer(writer, turn, nudges, correction, joined if injected else None)
        return "stop"


def _is_asked(writer: Writer, turn: Turn, call: ToolCall) -> bool:
    """Ask about a call; whether it waits for people now. It does not where a rule has approved it, and where its policy
    fails: then it has failed."""
    try:
        approval = ask(writer, turn, call, _tool_of(call, turn))
    except PolicyFailed as error:
        failed = error.as_dict()
        record_outcome(writer, turn, call, Outcome("failed", error=failed))
        turn.results[call.call_id] = {"error": failed}
        return False
    return approval.state == ApprovalStatus.PENDING


def _came_in(turn: Turn) -> set[str]:
    """The kinds of what has come in and was not read yet."""
    return set(turn.injections.filter(consumed_at=None).values_list("kind", flat=True))


def _answer(writer: Writer, turn: Turn, nudges: int, correction: str, joined: Sequence[Turn] | None) -> Next:
    """Give the model its results, with what has come in beside them; ``joined`` is None where nothing has. While staff
    have the conversation the turn waits with that: what was approved has run, and its model hears of it later."""
    if not takeover.may_speak(writer.session, turn):
        leave(writer, turn, TurnStatus.QUEUED, reason="takeover")
        return "stop"
    calls = calls_of(turn)
    blocks = [_result_block(block["id"], turn.results.get(block["id"], {})) for block in calls]
    blocks += _beside(turn, calls)
    if joined is not None:
        blocks += [*consume(writer, turn), *joining.join(writer, turn, joined)]
    if correction:
        blocks.append(correction_block(correction))
    turn.nudges, turn.correction, turn.results = nudges, "", {}
    turn.messages = extended(turn.messages, "user", blocks)
    writer.store(turn, WRITTEN)
    return "model"


def _tool_of(call: ToolCall, turn: Turn) -> Tool:
    tool = actors[turn.actor].tool(call.name)
    if tool is None:
        raise ValidationFailed(f"The tool {call.name!r} is gone.")
    return tool


def _has_jobs(turn: Turn) -> bool:
    return ToolCall.objects.filter(
        turn__in=turn.lineage(), background=True, state=CallStatus.RUNNING
    ).exists()


def _result_block(call_id: str, result: JsonObject) -> JsonObject:
    if "error" in result:
        return tool_result(call_id, result["error"], is_error=True)
    return tool_result(call_id, bounded(call_id, result.get("ok")))


def _beside(turn: Turn, calls: Sequence[JsonObject]) -> list[JsonObject]:
    """Why people approved ``calls``, and what they changed of them before, as blocks behind the results: the model
    reads its own call above, with other arguments (D20)."""
    return [
        injection_block(kind, told[kind], tool=block["name"], call_id=block["id"])
        for block in calls
        for kind in ("approved", "edited")
        if kind in (told := turn.results.get(block["id"], {}))
    ]
