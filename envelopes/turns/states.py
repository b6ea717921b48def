"""Transitions of a session's state: proposed by agents and peers, made here or refused (D15).

A proposal is made once, in the transaction in which it is stored. Nobody makes it again who reads the log.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from envelopes.log.append import Writer
from envelopes.models import Session, StateValue, Turn
from envelopes.protocol.rows import StateRefusedData
from envelopes.registries.state_machines import Source, state_machines
from envelopes.signals import state_transition_rejected
from envelopes.types import JsonObject

CODE = "STATE_TRANSITION_REJECTED"


def states_of(session: Session) -> dict[str, str]:
    """Where every coordinate of every registered machine is, by ``<component>.<coordinate>``."""
    return states_with(dict(session.state_values.values_list("name", "value")))


def states_with(stored: Mapping[str, str]) -> dict[str, str]:
    """The same, of a session that has moved these coordinates."""
    return {
        key: stored.get(key, coordinate.initial)
        for machine in state_machines
        for name, coordinate in machine.coordinates.items()
        for key in [f"{machine.name}.{name}"]
    }


def propose(writer: Writer, turn: Turn | None, patch: Mapping[str, str], source: Source) -> list[JsonObject]:
    """Make all of ``patch``, ``{"<component>.<coordinate>": "<state>"}``, or none of it. Under the session's lock.

    Returns why it is refused, one reason a key: ``{key, message, allowed?}``; that is a row and a signal then. Where
    all of it is made, the row that the next ``writer.add`` makes is where the states come from.
    """
    states = states_of(writer.session)
    refused = [reason for key, value in patch.items() if (reason := _refused(states, key, value, source))]
    if refused:
        _reject(writer, turn, patch, refused, source)
        return refused
    for key, value in patch.items():
        if states[key] != value:
            StateValue.objects.update_or_create(
                session=writer.session,
                name=key,
                defaults={"value": value, "seq": writer.session.last_seq + 1},
            )
    return []


def _refused(states: Mapping[str, str], key: str, value: str, source: Source) -> JsonObject | None:
    found = state_machines.coordinate(key)
    if found is None:
        return {"key": key, "message": f"There is no coordinate {key!r}.", "allowed": sorted(states)}
    machine, coordinate = found
    if not machine.lets(source):
        who = "an agent's reply" if source == "actor" else "a peer"
        return {"key": key, "message": f"The state of {machine.name!r} is not changed by {who}."}
    now = states[key]
    # A state of an application that has changed since may be none any more: nothing follows it but a new beginning.
    allowed = coordinate.transitions.get(now, (coordinate.initial,))
    if value == now or value in allowed:
        return None
    return {
        "key": key,
        "message": f"{key} cannot go from {now!r} to {value!r}.",
        "allowed": list(allowed),
    }


def _reject(
    writer: Writer, turn: Turn | None, patch: Mapping[str, str], reasons: list[JsonObject], source: Source
) -> None:
    record: StateRefusedData = {"patch": dict(patch), "reasons": reasons, "source": source}
    writer.add("state-refused", record, turn=turn)
    session_id, turn_id = writer.session.pk, turn.public_id if turn is not None else ""
    transaction.on_commit(
        lambda: state_transition_rejected.send(
            sender=Session,
            session_id=session_id,
            turn_id=turn_id,
            patch=dict(patch),
            reasons=reasons,
            source=source,
        )
    )
