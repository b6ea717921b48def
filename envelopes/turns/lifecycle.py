"""Opening and settling turns: what intake, runner and approvals share. All of it inside an open append."""

from __future__ import annotations

from django.db import transaction

from envelopes.log.append import Writer
from envelopes.models import Injection, ToolCall, Turn
from envelopes.models.turn import WRITTEN
from envelopes.part_types.error import ERROR
from envelopes.protocol.rows import SettledData
from envelopes.providers.transcript import injection_block
from envelopes.registries.actors import actors
from envelopes.registries.statuses import TURN, UNFINISHED, CallStatus, TurnStatus
from envelopes.signals import turn_settled
from envelopes.turns import journal
from envelopes.turns.opening import follow_up, open_turn, turn_data
from envelopes.turns.outcomes import UNKNOWN, Outcome, record_outcome
from envelopes.turns.parts import append_parts
from envelopes.types import JsonObject

__all__ = ["consume", "fail", "hand_over", "inject", "inject_outcome", "open_turn", "settle", "turn_data"]

MAX_HANDOFFS = 5

_END = (
    *WRITTEN, "steps", "recoveries", "status", "finalized_by", "settled_at", "lease_owner", "lease_until",
)  # fmt: skip


def hand_over(writer: Writer, turn: Turn, actor: str) -> None:
    """Settle ``turn`` and begin that of the actor that takes over: it gets what started this one, what was gathered,
    and whatever still comes in. Actors that keep passing on are stopped instead, and the person is told.
    """
    hops = turn.trigger.get("handoff", {}).get("hops", 0) + 1
    if hops > MAX_HANDOFFS:
        fail(writer, turn, "passed_too_often", f"The agents passed this on {hops} times and nobody answered.")
        return
    _settle(writer, turn, turn_state="passed", finalized_by="passed")
    handoff = {"from": turn.actor, "mailbox": _mailbox(turn), "hops": hops}
    turn.passed_to = open_turn(
        writer, {**turn.trigger, "handoff": handoff}, actor=actor, originators=turn.originators
    )
    turn.save(update_fields=["passed_to"])
    _dispatch(writer, turn)


def _mailbox(turn: Turn) -> list[JsonObject]:
    """The results that a model goes on with: those that this turn was given, and its own."""
    given: list[JsonObject] = turn.trigger.get("handoff", {}).get("mailbox", [])
    results = turn.tool_calls.filter(state="succeeded").values_list("name", "result")
    return [*given, *({"tool": name, "result": result} for name, result in results)]


def settle(writer: Writer, turn: Turn, *, turn_state: str, finalized_by: str) -> None:
    """Settle ``turn``: its row, its ``settled`` event, and a new turn for whatever came in too late for it.

    ``finalized_by``: complete, clarifying, error, cancelled, timeout (D9); ``hand_over`` settles with passed (D67).
    What its jobs append after this is late, or belongs to the turn that goes on with it (``turns.late``). A person who
    stops a turn stops its jobs: their results would otherwise begin a turn that nobody asked for.
    """
    _settle(writer, turn, turn_state=turn_state, finalized_by=finalized_by)
    _dispatch(writer, turn)


def _settle(writer: Writer, turn: Turn, *, turn_state: str, finalized_by: str) -> None:
    TURN.check(turn.status, TurnStatus.SETTLED)
    if turn.may_have_calls:
        _close_calls(writer, turn, stopped=finalized_by == "cancelled")
    turn.status, turn.turn_state, turn.finalized_by = TurnStatus.SETTLED, turn_state, finalized_by
    turn.settled_at, turn.live, turn.lease_owner, turn.lease_until = writer.now, {}, "", None
    writer.store(turn, _END)
    end: SettledData = {"turnState": turn_state, "finalizedBy": finalized_by}
    writer.add("settled", end, turn=turn)
    session, number, name, now = turn.session_id, turn.public_id, writer.session.public_id, writer.now
    if turn.number < writer.session.turn_count:
        # The next turn in the queue may run now. An earlier one that is queued again has rung: the runner of this turn
        # remembers that (``Runner.wake``). Where only another process heard it, the sweep finds that turn.
        writer.wake_runner()
    transaction.on_commit(lambda: journal.settled(turn, name, now))
    transaction.on_commit(
        lambda: turn_settled.send(
            sender=Turn, session_id=session, turn_id=number, turn_state=turn_state, finalized_by=finalized_by
        )
    )


def _dispatch(writer: Writer, turn: Turn) -> None:
    """Give what came in too late for ``turn`` to whoever goes on with it."""
    if not turn.may_have_calls:
        # Only calls bring something in.
        return
    for injection in turn.injections.filter(consumed_at=None):
        inject(writer, turn, injection)


def _close_calls(writer: Writer, turn: Turn, *, stopped: bool) -> None:
    """Give every call that nobody will finish an end: one that may have taken effect is unknown, for staff to resolve
    (D19); others were not run, or not to their end. Jobs go on after their turn, unless the person stopped it: then
    those of turns that were passed on to it end too."""
    lineage = {earlier.pk: earlier for earlier in turn.lineage()} | {turn.pk: turn}
    unfinished = ToolCall.objects.filter(turn__in=lineage, state__in=UNFINISHED)
    for call in unfinished.select_related("approval"):
        asker = lineage[call.turn_id]
        outcome = _left_at(call, asker, stopped=stopped)
        if outcome is not None:
            record_outcome(writer, asker, call, outcome)


def _left_at(call: ToolCall, turn: Turn, *, stopped: bool) -> Outcome | None:
    """How a call ends that nobody will finish; None for a job that goes on."""
    if call.background and call.state == CallStatus.RUNNING:
        error: JsonObject = {"code": "cancelled", "message": "The person stopped it."}
        return Outcome("failed", error=error) if stopped else None
    if call.state != CallStatus.RUNNING:
        return Outcome("failed", error={"code": "not_run", "message": "The turn ended before this was run."})
    actor = actors.get(turn.actor)
    tool = actor.tool(call.name) if actor else None
    if tool is not None and tool.idempotent:
        return Outcome(
            "failed", error={"code": "not_finished", "message": "The turn ended before this was done."}
        )
    return Outcome("unknown", error=UNKNOWN)


def inject(writer: Writer, turn: Turn, injection: Injection) -> None:
    """Dispatch a stored injection to whoever has ``turn`` now: it goes on with it, or begins with it where it has been
    waiting for nothing else (``turns.late``); when it is over, a new turn begins."""
    turn = turn.holder()
    begins = turn.status == TurnStatus.SETTLED or _awaits_trigger(turn)
    trigger = {"kind": "injection", "injection": injection.kind, **injection.data}
    if begins or injection.turn_id != turn.pk:
        injection.turn = turn
        injection.consumed_at = writer.now if begins else None
        injection.save(update_fields=["turn", "consumed_at"])
    if turn.status == TurnStatus.SETTLED:
        follow_up(writer, turn, trigger)
    elif turn.status == TurnStatus.WAITING:
        TURN.check(turn.status, TurnStatus.QUEUED)
        turn.status = TurnStatus.QUEUED
        turn.trigger = trigger if begins else turn.trigger
        Turn.objects.filter(pk=turn.pk).update(status=turn.status, trigger=turn.trigger)
        writer.wake_runner()


def _awaits_trigger(turn: Turn) -> bool:
    return (
        turn.status == TurnStatus.WAITING
        and turn.trigger.get("kind") == "injection"
        and "payload" not in turn.trigger
    )


def inject_outcome(writer: Writer, turn: Turn, call: ToolCall, outcome: Outcome) -> None:
    """The outcome of a call that ``turn`` did not wait for."""
    data = {"payload": outcome.told, "tool": call.name, "callId": call.call_id}
    inject(writer, turn, Injection.objects.create(turn=turn, kind="tool-result", data=data))


def consume(writer: Writer, turn: Turn) -> list[JsonObject]:
    """What came in for ``turn``, as blocks for its model, each once."""
    waiting = list(turn.injections.filter(consumed_at=None))
    turn.injections.filter(pk__in=[injection.pk for injection in waiting]).update(consumed_at=writer.now)
    return [
        injection_block(
            injection.kind,
            injection.data.get("payload"),
            tool=injection.data.get("tool", ""),
            call_id=injection.data.get("callId", ""),
        )
        for injection in waiting
    ]


def fail(
    writer: Writer, turn: Turn, code: str, text: str, *, title: str = "This answer could not be finished"
) -> None:
    """Tell the person what went wrong, as an error part of the runtime, and settle."""
    part: JsonObject = {
        "metadata": {"partType": ERROR.name},
        "text": text,
        "data": {"code": code, "title": title},
    }
    append_parts(writer, turn, [part], "runtime", state="error")
    name = writer.session.public_id
    transaction.on_commit(lambda: journal.failed(turn, name, code))
    settle(writer, turn, turn_state="error", finalized_by="error")
