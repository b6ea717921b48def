"""Asking another actor within a turn (respond() document, "delegated"): the port between a turn and whoever answers.

``ask`` begins it, and the turn waits. Whoever is asked answers once, with an ``Answer``, which ``lifecycle`` gives to
the turn: it goes on with that, or is settled, as its state declares. Here an actor of this process is asked: it gets a
turn of its own, with its own tools, approvals and time, whose parts stand in the turn that waits. So a runner that is
gone is replaced as for any turn, and the answer is stored in the transaction in which that turn settles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from envelopes.log.append import Writer
from envelopes.models import Turn
from envelopes.turns import stopping
from envelopes.turns.earlier import said_for
from envelopes.turns.opening import open_turn
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DEPTH = 3
"""So many actors may ask each other, one within the other's turn."""

INJECTION = "delegated"
"""The kind of the injection by which the answer comes back."""

_LEFT_BEHIND = ("handoff", "delegation", "retry")


@dataclass(frozen=True)
class Answer:
    """What came of it: ``turn_state`` and ``finalized_by`` as of a turn, what was ``said``, and ``problem``, ``{code,
    message}``, where there is no answer."""

    actor: str
    turn_state: str
    finalized_by: str
    said: str = ""
    problem: JsonObject | None = None

    @property
    def is_one(self) -> bool:
        """Whether it is an answer, and no failure."""
        return self.problem is None and self.finalized_by not in ("error", "timeout")

    @property
    def told(self) -> JsonObject:
        """As the model reads it that asked."""
        told: JsonObject = {
            "actor": self.actor,
            "turnState": self.turn_state,
            "finalizedBy": self.finalized_by,
            "said": self.said,
            "note": "The person has read it already.",
        }
        return told if self.problem is None else {**told, "error": self.problem}


def depth_of(turn: Turn) -> int:
    """How many actors have asked each other to come to ``turn``."""
    depth = turn.trigger.get("delegation", {}).get("depth", 0)
    return depth if isinstance(depth, int) else 0


def ask(writer: Writer, turn: Turn, actor: str, task: str, mailbox: Sequence[JsonObject]) -> Turn:
    """Let ``actor`` answer in ``turn``: it gets what began that, ``task``, and what was gathered."""
    trigger = {key: value for key, value in stopping.without(turn.trigger).items() if key not in _LEFT_BEHIND}
    asked = {"from": turn.actor, "task": task, "mailbox": list(mailbox), "depth": depth_of(turn) + 1}
    return open_turn(
        writer,
        {**trigger, "delegation": asked},
        actor=actor,
        originators=turn.originators,
        delegated_from=turn,
    )


def answer_of(writer: Writer, turn: Turn, problem: JsonObject | None) -> Answer:
    """What came of ``turn``, which has settled in this transaction."""
    writer.flush()
    return Answer(turn.actor, turn.turn_state, turn.finalized_by, said_for(turn), problem)
