"""Turn states: what an actor declares with each respond() call (respond() document, section "Turn states")."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes.registries.base import Registry


@dataclass(frozen=True)
class TurnState:
    """``terminal`` settles the turn; ``emits_envelope`` assembles what it produced; ``holds_actor`` keeps the actor
    until something else happens. ``declarable`` is False while the machinery behind a state is not there: such a
    state is refused with a typed error (D3)."""

    name: str
    terminal: bool
    emits_envelope: bool
    holds_actor: bool
    declarable: bool = True
    meaning: str = ""


turn_states: Registry[TurnState] = Registry("turn state")

for _state in (
    TurnState("awaiting", False, False, True, meaning="more is to come: you are still working"),
    TurnState("complete", True, True, False, meaning="the turn is settled"),
    TurnState(
        "clarifying", True, False, False, meaning="you asked the person a question and need the answer"
    ),
    TurnState("error", True, False, False, meaning="you cannot do it; an error part says why"),
    TurnState("suspended", False, False, False, declarable=False, meaning="an approval is pending"),
    TurnState("delegated", False, False, True, declarable=False, meaning="a peer agent is at work"),
    TurnState("passed", True, False, False, meaning="another actor takes over: set passTo"),
):
    turn_states.register(_state)
