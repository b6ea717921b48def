"""Who stopped a turn: the runner ends it later, in whatever process, and has to say whose doing that was."""

from __future__ import annotations

from typing import Literal

from envelopes.access import Principal
from envelopes.models import Turn
from envelopes.types import JsonObject

Stopper = Literal["person", "program", "staff"]
"""Whoever talks to the agent, or staff who took the conversation over."""

_KEY = "stoppedBy"
"""In ``Turn.trigger``, of a turn that is to stop."""

TOLD: dict[Stopper, str] = {
    "person": "The person stopped it.",
    "program": "The program that asked stopped it.",
    "staff": "Staff stopped it.",
}
"""As models read it."""


def stopper_of(who: Principal) -> Stopper:
    """``who`` as one who talks to the agent."""
    return "person" if who.kind in ("person", "guest", None) else "program"


def request(turn: Turn, by: Stopper) -> None:
    """Let the runner of ``turn`` end it at its next step. Within the lock of its session; whoever came first counts."""
    if not turn.cancel_requested:
        turn.cancel_requested, turn.trigger = True, {**turn.trigger, _KEY: by}
        turn.save(update_fields=["cancel_requested", "trigger"])


def stopped_by(turn: Turn) -> Stopper:
    """Who asked for the end of ``turn``."""
    found: Stopper | None = turn.trigger.get(_KEY)
    return found if found in TOLD else "person"


def without(trigger: JsonObject) -> JsonObject:
    """``trigger`` for a turn that takes the place of one that was to stop, and is not to stop itself."""
    return {key: value for key, value in trigger.items() if key != _KEY}
