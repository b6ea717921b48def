"""Turn states: what an actor declares with each respond() call (respond() document, section "Turn states").

What a state says of itself is all that the runtime knows of it; nothing asks for one by its name.

| ``terminal`` | ``holds_actor`` | the turn |
| --- | --- | --- |
| no | yes | goes on: its actor is asked again with what its calls gave |
| no | no | is put aside, its session is free: it goes on with what comes next, a result, a message or a click |
| yes | no | is settled |
| yes | yes | is settled, and the conversation stays with its actor: the next message is for it, whoever's it was |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from envelopes.errors import RegistrationError
from envelopes.registries import declared
from envelopes.registries.base import Registry
from envelopes.registries.written import check_flag, check_text

FinalizedBy = Literal["complete", "clarifying", "error"]
"""What the envelope of a turn says that an actor has settled (D9)."""


@dataclass(frozen=True)
class TurnState:
    """``terminal`` settles the turn; ``emits_envelope`` assembles what it produced; ``holds_actor`` keeps the actor
    (see above).

    ``passes``: the call names in ``passTo`` who takes the turn over. ``delegates``: it names in ``delegateTo`` who
    answers in this turn; then a state that is not terminal goes on with the answer, and one that is is settled with it.
    ``needs`` is a part type that has to be among the parts of the call. ``finalized_by`` is what the envelope says.
    ``meaning`` is what models read. ``declarable`` is False for a state that only the runtime sets: declared, it is
    refused with a typed error (D3).

    Raises ``RegistrationError`` for one that passes a turn on and keeps it, or does both with it.
    """

    name: str
    terminal: bool
    emits_envelope: bool
    holds_actor: bool
    declarable: bool = True
    meaning: str = ""
    passes: bool = False
    delegates: bool = False
    needs: str = ""
    finalized_by: FinalizedBy = "complete"

    def __post_init__(self) -> None:
        owner = f"the turn state {self.name!r}"
        for flag in ("terminal", "emits_envelope", "holds_actor", "declarable", "passes", "delegates"):
            check_flag(owner, flag, getattr(self, flag))
        for text in ("meaning", "needs"):
            check_text(owner, text, getattr(self, text))
        if self.passes and (self.delegates or self.holds_actor or not self.terminal):
            raise RegistrationError(
                f"The turn state {self.name!r} passes its turn on: that is its end, and its actor keeps nothing.",
                name=self.name,
            )


class TurnStateRegistry(Registry[TurnState]):
    """Turn states by name."""

    def register(self, item: TurnState | Mapping[str, object]) -> TurnState:
        """Also takes a state as the respond() document writes it (``registries.declared``)."""
        if isinstance(item, Mapping):
            given = declared.read(declared.DeclaredTurnState, self.kind, item)
            item = TurnState(**given.model_dump())
        return super().register(item)


turn_states = TurnStateRegistry("turn state")

for _state in (
    TurnState("awaiting", False, False, True, meaning="more is to come"),
    TurnState("complete", True, True, False, meaning="you are done"),
    TurnState(
        "clarifying",
        True,
        False,
        False,
        meaning="you asked the person a question and need the answer",
        finalized_by="clarifying",
    ),
    TurnState(
        "error",
        True,
        False,
        False,
        meaning="you cannot do it; an error part says why",
        finalized_by="error",
    ),
    TurnState("suspended", False, False, False, declarable=False, meaning="an approval is pending"),
    TurnState(
        "delegated",
        False,
        False,
        True,
        meaning="another actor answers a part of it, then you go on: set delegateTo",
        delegates=True,
    ),
    TurnState("passed", True, False, False, meaning="another actor takes over: set passTo", passes=True),
):
    turn_states.register(_state)


def emits_envelope(name: object) -> bool:
    """Whether a turn that settles in this state has an envelope of all that it gathered. One of an application that is
    gone has had one."""
    state = turn_states.get(name)
    return state is None or state.emits_envelope
