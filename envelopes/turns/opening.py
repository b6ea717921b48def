"""Opening turns, inside an open append."""

from __future__ import annotations

from collections.abc import Sequence

from envelopes.log.append import Writer
from envelopes.models import Turn, by_hand
from envelopes.protocol.originators import Originator
from envelopes.protocol.rows import TurnData
from envelopes.registries.statuses import TurnStatus
from envelopes.registries.turn_states import emits_envelope
from envelopes.types import JsonObject


def turn_data(turn: Turn, status: str, *, reason: str = "") -> TurnData:
    """The data of a ``turn`` row."""
    return {
        "turnId": turn.public_id,
        "number": turn.number,
        "actor": turn.actor,
        "status": status,
        "reason": reason,
        "attempt": turn.attempt,
    }


def open_turn(
    writer: Writer,
    trigger: JsonObject,
    *,
    actor: str = "",
    originators: Sequence[Originator] = (),
    status: TurnStatus = TurnStatus.QUEUED,
    goes_on: Turn | None = None,
) -> Turn:
    """A new turn, by default at the end of the session's queue. ``trigger`` is ``{kind: message|action|injection,
    ...}``; ``goes_on``: the settled turn that it goes on with."""
    session = writer.session
    session.turn_count += 1
    turn = Turn(
        session=session,
        number=session.turn_count,
        actor=actor or session.actor,
        status=status,
        trigger=trigger,
        trigger_seq=session.last_seq,
        originators=list(originators),
    )
    by_hand.insert(turn)
    data = turn_data(turn, status, reason="new")
    if goes_on is not None and not emits_envelope(goes_on.turn_state):
        data["goesOn"] = goes_on.number
    writer.add("turn", data, turn=turn)
    if status == TurnStatus.QUEUED:
        writer.wake_runner()
    return turn


def follow_up(
    writer: Writer, turn: Turn, trigger: JsonObject, *, status: TurnStatus = TurnStatus.QUEUED
) -> Turn:
    """Open the turn that goes on with what its jobs bring in for ``turn``, which has settled: whatever else they say
    and find is that turn's."""
    turn.passed_to = open_turn(
        writer, trigger, actor=turn.actor, originators=turn.originators, status=status, goes_on=turn
    )
    turn.save(update_fields=["passed_to"])
    return turn.passed_to
