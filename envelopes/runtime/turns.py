"""Opening and settling turns: what intake, runner and approvals share. All of it inside an open append."""

from __future__ import annotations

from django.db import transaction

from envelopes.log.append import Writer
from envelopes.models import Injection, ToolCall, Turn
from envelopes.protocol.parts import check_part
from envelopes.registries.actors import actors
from envelopes.registries.state_machines import TOOL_CALL, TURN
from envelopes.runtime import journal
from envelopes.runtime.emitting import emit_unfinished
from envelopes.signals import turn_settled
from envelopes.types import JsonObject

MAX_HANDOFFS = 5

UNKNOWN: JsonObject = {
    "code": "outcome_unknown",
    "message": "The server stopped while this was running. Whether it took effect is not known. It is not run again.",
}


def turn_data(turn: Turn, status: str, *, reason: str = "") -> JsonObject:
    """The data of a ``turn`` row."""
    return {
        "turnId": turn.public_id,
        "number": turn.number,
        "actor": turn.actor,
        "status": status,
        "reason": reason,
        "attempt": turn.attempt,
    }


def open_turn(writer: Writer, trigger: JsonObject, *, actor: str = "") -> Turn:
    """A new turn at the end of the session's queue. ``trigger`` is ``{kind: message|action|injection, ...}``."""
    session = writer.session
    session.turn_count += 1
    turn = Turn.objects.create(
        session=session,
        number=session.turn_count,
        actor=actor or session.actor,
        trigger=trigger,
        trigger_seq=session.last_seq,
    )
    writer.add("turn", turn_data(turn, "queued", reason="new"), turn=turn)
    writer.wake_runner()
    return turn


def hand_over(writer: Writer, turn: Turn, actor: str) -> None:
    """Settle ``turn`` and begin that of the actor that takes over: it gets what started this one, and the results it
    gathered. Actors that keep passing on are stopped instead, and the person is told.
    """
    hops = turn.trigger.get("handoff", {}).get("hops", 0) + 1
    if hops > MAX_HANDOFFS:
        fail(writer, turn, "passed_too_often", f"The agents passed this on {hops} times and nobody answered.")
        return
    settle(writer, turn, turn_state="passed", finalized_by="complete")
    results = turn.tool_calls.filter(state="succeeded").values_list("name", "result")
    mailbox = [{"tool": name, "result": result} for name, result in results]
    handoff = {"from": turn.actor, "mailbox": mailbox, "hops": hops}
    open_turn(writer, {**turn.trigger, "handoff": handoff}, actor=actor)


def settle(writer: Writer, turn: Turn, *, turn_state: str, finalized_by: str, **data: object) -> None:
    """Settle ``turn``: its row, its ``settled`` event, and a new turn for whatever came in too late for it.

    ``finalized_by``: complete, clarifying, error, cancelled, timeout (D9). Nothing is appended to a turn after this.
    A person who stops a turn stops its jobs: their results would otherwise begin a turn that nobody asked for.
    """
    TURN.check(turn.status, "settled")
    _close_calls(writer, turn, stopped=finalized_by == "cancelled")
    turn.status, turn.turn_state, turn.finalized_by = "settled", turn_state, finalized_by
    turn.settled_at, turn.live, turn.lease_owner, turn.lease_until = writer.now, {}, "", None
    turn.save()
    writer.add("settled", {"turnState": turn_state, "finalizedBy": finalized_by, **data}, turn=turn)
    for injection in turn.injections.filter(consumed_at=None):
        inject(writer, turn, injection)
    session, number, name, now = turn.session_id, turn.public_id, writer.session.public_id, writer.now
    # The next turn in the queue may run now.
    writer.wake_runner()
    transaction.on_commit(lambda: journal.settled(turn, name, now))
    transaction.on_commit(
        lambda: turn_settled.send(
            sender=Turn, session_id=session, turn_id=number, turn_state=turn_state, finalized_by=finalized_by
        )
    )


def _close_calls(writer: Writer, turn: Turn, *, stopped: bool) -> None:
    """Give every call that nobody will finish an end: one that may have taken effect is unknown, for staff to resolve
    (D19); others were not run, or not to their end. Jobs go on after their turn, unless the person stopped it."""
    actor = actors.get(turn.actor)
    for call in turn.tool_calls.filter(state__in=["requested", "approved", "running"]).select_related(
        "approval"
    ):
        if call.background and call.state == "running":
            if not stopped:
                continue
            state, error = "failed", {"code": "cancelled", "message": "The person stopped it."}
        elif call.state != "running":
            state, error = "failed", {"code": "not_run", "message": "The turn ended before this was run."}
        elif (tool := actor.tool(call.name) if actor else None) is not None and tool.idempotent:
            state, error = (
                "failed",
                {"code": "not_finished", "message": "The turn ended before this was done."},
            )
        else:
            state, error = "unknown", UNKNOWN
        TOOL_CALL.check(call.state, state)
        ToolCall.objects.filter(pk=call.pk).update(
            state=state, error=error, finished_at=writer.now, lease_owner="", lease_until=None
        )
        tell_call(writer, turn, call, state, error=error)
        if call.state == "running":
            emit_unfinished(writer, turn, call)


def tell_call(
    writer: Writer,
    turn: Turn,
    call: ToolCall,
    state: str,
    *,
    summary: str = "",
    error: JsonObject | None = None,
) -> None:
    """A ``tool`` row, for calls that a person was asked about: their card shows what became of it."""
    approval = getattr(call, "approval", None)
    if approval is None:
        return
    data: JsonObject = {
        "callId": call.call_id,
        "name": call.name,
        "state": state,
        "approvalId": approval.approval_id,
    }
    if summary:
        data["summary"] = summary
    if error is not None:
        data["error"] = error
    writer.add("tool", data, turn=turn)


def inject(writer: Writer, turn: Turn, injection: Injection) -> None:
    """Dispatch a stored injection: the turn goes on with it, or a new one begins when that turn is over."""
    if turn.status == "settled":
        injection.consumed_at = writer.now
        injection.save(update_fields=["consumed_at"])
        open_turn(
            writer, {"kind": "injection", "injection": injection.kind, **injection.data}, actor=turn.actor
        )
    elif turn.status == "waiting":
        TURN.check(turn.status, "queued")
        turn.status = "queued"
        Turn.objects.filter(pk=turn.pk).update(status="queued")
        writer.wake_runner()


def fail(
    writer: Writer, turn: Turn, code: str, text: str, *, title: str = "This answer could not be finished"
) -> None:
    """Tell the person what went wrong, as an error part of the runtime, and settle."""
    part, _ = check_part(
        {"metadata": {"partType": "error"}, "text": text, "data": {"code": code, "title": title}},
        origin="runtime",
    )
    writer.add("part", {"part": part.as_json(), "turnState": "error"}, part_type="error", turn=turn)
    name = writer.session.public_id
    transaction.on_commit(lambda: journal.failed(turn, name, code))
    settle(writer, turn, turn_state="error", finalized_by="error")
