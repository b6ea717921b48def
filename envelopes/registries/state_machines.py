"""The explicit state machines of the runtime: every state, and where each may go from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envelopes.errors import TransitionRefused


@dataclass(frozen=True)
class Machine:
    """``transitions[state]`` are the states that may follow; a state without any is final."""

    name: str
    transitions: Mapping[str, tuple[str, ...]]

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(self.transitions)

    @property
    def final(self) -> frozenset[str]:
        return frozenset(state for state, following in self.transitions.items() if not following)

    def check(self, got: str, to: str) -> None:
        """Raises ``TransitionRefused``, which names what would have been possible."""
        allowed = self.transitions.get(got, ())
        if to not in allowed:
            raise TransitionRefused(self.name, got=got, to=to, expected=allowed)


TURN = Machine(
    "A turn",
    {
        "queued": ("running", "settled"),
        "running": ("running", "queued", "suspended", "waiting", "settled"),
        "suspended": ("queued", "settled"),
        "waiting": ("queued", "settled"),
        "settled": (),
    },
)
"""``running`` to ``running`` is a runner taking over from one that died; ``running`` to ``queued`` one that stops."""

TOOL_CALL = Machine(
    "A tool call",
    {
        "requested": ("running", "awaiting-approval", "failed"),
        "awaiting-approval": ("approved", "denied"),
        "approved": ("running", "failed"),
        "running": ("running", "succeeded", "failed", "unknown"),
        "succeeded": (),
        "failed": (),
        "denied": (),
        "unknown": ("succeeded", "failed"),
    },
)
"""``running`` to ``running`` is an idempotent call run again after a crash. ``unknown`` is left by staff only."""

APPROVAL = Machine(
    "An approval", {"pending": ("granted", "denied", "expired"), "granted": (), "denied": (), "expired": ()}
)
