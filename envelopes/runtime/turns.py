"""Opening and settling turns: what intake, runner and approvals share. All of it inside an open append."""

from __future__ import annotations

from django.db import transaction

from envelopes.log.append import Writer
from envelopes.models import Injection, Turn
from envelopes.protocol.parts import check_part
from envelopes.registries.state_machines import TURN
from envelopes.signals import turn_settled
from envelopes.types import JsonObject

MAX_HANDOFFS = 5


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
    """Begin the turn of the actor that takes over: it gets what started this one, and the results it gathered.

    Actors that keep passing on are stopped, and the person is told.
    """
    hops = turn.trigger.get("handoff", {}).get("hops", 0) + 1
    if hops > MAX_HANDOFFS:
        text = f"The agents passed this on {hops} times and nobody answered."
        part = {"metadata": {"partType": "error"}, "text": text, "data": {"code": "passed_too_often"}}
        writer.add("part", {"part": part, "turnState": "error"}, part_type="error", turn=turn)
        return
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
    if finalized_by == "cancelled":
        turn.tool_calls.filter(background=True, state="running").update(
            state="failed",
            error={"code": "cancelled", "message": "The person stopped it."},
            finished_at=writer.now,
        )
    turn.status, turn.turn_state, turn.finalized_by = "settled", turn_state, finalized_by
    turn.settled_at, turn.live, turn.lease_owner, turn.lease_until = writer.now, {}, "", None
    turn.save()
    writer.add("settled", {"turnState": turn_state, "finalizedBy": finalized_by, **data}, turn=turn)
    for injection in turn.injections.filter(consumed_at=None):
        inject(writer, turn, injection)
    session, number = turn.session_id, turn.public_id
    # The next turn in the queue may run now.
    writer.wake_runner()
    transaction.on_commit(
        lambda: turn_settled.send(
            sender=Turn, session_id=session, turn_id=number, turn_state=turn_state, finalized_by=finalized_by
        )
    )


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
    settle(writer, turn, turn_state="error", finalized_by="error")
