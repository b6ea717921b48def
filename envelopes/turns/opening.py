"""Opening turns, inside an open append."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from envelopes.conf import conf
from envelopes.log.append import Writer
from envelopes.models import Session, Turn, by_hand
from envelopes.protocol.originators import Originator
from envelopes.protocol.rows import TurnData
from envelopes.protocol.time import instant_at
from envelopes.registries.actors import actors
from envelopes.registries.statuses import TurnStatus
from envelopes.registries.turn_states import emits_envelope
from envelopes.turns import stopping
from envelopes.types import JsonObject

_WAITS = frozenset({TurnStatus.SUSPENDED, TurnStatus.WAITING})


def turn_data(turn: Turn, status: str, *, reason: str = "") -> TurnData:
    """The data of a ``turn`` row."""
    data: TurnData = {
        "turnId": turn.public_id,
        "number": turn.number,
        "actor": turn.actor,
        "status": status,
        "reason": reason,
        "attempt": turn.attempt,
    }
    if status in _WAITS and turn.turn_state:
        data["turnState"] = turn.turn_state
    if turn.delegated_from is not None:
        data["delegatedFrom"] = turn.shown_in
    if "retry" in turn.trigger and turn.attempt <= 1:
        retry = {key: turn.trigger["retry"][key] for key in ("number", "of", "mode")}
        data["retry"] = {**retry, "at": instant_at(turn.due_at)} if turn.due_at is not None else retry
    return data


def open_turn(
    writer: Writer,
    trigger: JsonObject,
    *,
    actor: str = "",
    originators: Sequence[Originator] = (),
    status: TurnStatus = TurnStatus.QUEUED,
    reason: str = "new",
    goes_on: Turn | None = None,
    delegated_from: Turn | None = None,
    due_at: float | None = None,
    claim: Callable[[Turn], None] | None = None,
) -> Turn:
    """A new turn, by default at the end of the session's queue and of the actor that keeps the conversation.
    ``trigger`` is ``{kind: message|action|injection, ...}``. ``goes_on`` is the settled turn that it goes on with,
    ``delegated_from`` the one that waits for it; ``due_at`` when it begins, in seconds since 1970, where that is not at
    once. ``claim`` makes it one that runs, before it is stored; whoever gives that tells of it."""
    session = writer.session
    session.turn_count += 1
    whose = actor or keeper(session)
    known = actors.get(whose)
    turn = Turn(
        session=session,
        number=session.turn_count,
        actor=whose,
        status=status,
        trigger=trigger,
        trigger_seq=session.last_seq,
        originators=list(originators),
        delegated_from=delegated_from,
        seconds_left=conf.BEACH_TURN_SECONDS if known is None else known.budget,
        due_at=due_at,
    )
    data = turn_data(turn, status, reason=reason)
    if claim is None:
        by_hand.insert(turn)
    else:
        claim(turn)
        # Its model reads it in the words in which models of later turns do.
        by_hand.insert(turn, back=("trigger",))
    if goes_on is not None and delegated_from is None and not emits_envelope(goes_on.turn_state):
        data["goesOn"] = goes_on.number
    writer.add("turn", data, turn=turn)
    if turn.status == TurnStatus.QUEUED:
        writer.wake_runner()
    return turn


def trigger_again(turn: Turn) -> JsonObject:
    """What began ``turn``, for the one that takes its place: with the messages that have joined it (D66), which are the
    newer words."""
    before = turn.trigger.get("joined", []) if turn.delegated_from is None else []
    joined = [*before, *(each.trigger for each in turn.home.joining.order_by("number"))]
    trigger = stopping.without(turn.trigger)
    return {**trigger, "joined": joined} if joined else trigger


def keeper(session: Session) -> str:
    """The actor that the next message is for: the conversation's own, unless another one keeps it (``holds_actor``)."""
    return session.held_by if session.held_by in actors else session.actor


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
