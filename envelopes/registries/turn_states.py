"""Turn states: what an actor declares with each respond() call (respond() document, section "Turn states")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envelopes.registries import declared
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


class TurnStateRegistry(Registry[TurnState]):
    """Turn states by name."""

    def register(self, item: TurnState | Mapping[str, object]) -> TurnState:
        """Also takes a state as the respond() document writes it (``registries.declared``)."""
        if isinstance(item, Mapping):
            given = declared.read(declared.DeclaredTurnState, self.kind, item)
            item = TurnState(
                given.name, given.terminal, given.emits_envelope, given.holds_actor, meaning=given.meaning
            )
        return super().register(item)


turn_states = TurnStateRegistry("turn state")

for _state in (
    TurnState("awaiting", False, False, True, meaning="more is to come"),
    TurnState("complete", True, True, False, meaning="you are done"),
    TurnState(
        "clarifying", True, False, False, meaning="you asked the person a question and need the answer"
    ),
    TurnState("error", True, False, False, meaning="you cannot do it; an error part says why"),
    TurnState("suspended", False, False, False, declarable=False, meaning="an approval is pending"),
    TurnState("delegated", False, False, True, declarable=False, meaning="a peer agent is at work"),
    TurnState("passed", True, False, False, meaning="another actor takes over: set passTo"),
):
    turn_states.register(_state)
