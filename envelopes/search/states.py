"""How a conversation stands, in the one word by which staff look for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from envelopes.registries.statuses import TurnStatus


class State(StrEnum):
    """The first of these that holds."""

    WAITING = "waiting"
    """Somebody is asked to decide."""
    WORKING = "working"
    """An agent is at work, or will be without anybody doing anything."""
    UNKNOWN = "unknown"
    """Of an action nobody knows what became of it."""
    SUSPENDED = "suspended"
    """Its newest turn is put aside until something comes in."""
    FAILED = "failed"
    """Its newest turn ended in an error."""
    STOPPED = "stopped"
    """Its newest turn was stopped by a person."""
    ASKED = "asked"
    """Its agent has asked a question."""
    ANSWERED = "answered"
    """Its newest turn is answered."""
    EMPTY = "empty"
    """Nobody has written anything."""


@dataclass(frozen=True)
class Standing:
    """What decides: of its approvals, turns and tool calls whether there are such, and its newest turn."""

    waits: bool
    works: bool
    is_unknown: bool
    status: str | None
    turn_state: str
    finalized_by: str


def state_of(now: Standing) -> State:
    """The state of a conversation that stands like this."""
    if now.waits:
        return State.WAITING
    if now.works:
        return State.WORKING
    if now.is_unknown:
        return State.UNKNOWN
    if now.status is None:
        return State.EMPTY
    if now.status == TurnStatus.SUSPENDED:
        return State.SUSPENDED
    if now.finalized_by == "cancelled":
        return State.STOPPED
    if now.turn_state == "error" or now.finalized_by in ("error", "timeout"):
        return State.FAILED
    return State.ASKED if now.turn_state == "clarifying" else State.ANSWERED
