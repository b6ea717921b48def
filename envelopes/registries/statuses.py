"""The explicit state machines of the runtime: every state, what it means, and where each may go from there.

The values are what the database and the wire hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from envelopes.errors import TransitionRefused


@dataclass(frozen=True)
class Machine:
    """``transitions[state]`` are the states that may follow; a state without any is final."""

    name: str
    transitions: Mapping[str, tuple[str, ...]]

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(str(state) for state in self.transitions)

    def check(self, got: str, to: str) -> None:
        """Raises ``TransitionRefused``, which names what would have been possible."""
        allowed = tuple(str(state) for state in self.transitions.get(got, ()))
        if to not in allowed:
            raise TransitionRefused(self.name, got=str(got), to=str(to), expected=allowed)


class TurnStatus(StrEnum):
    """Where a turn stands (``Turn.status``); what its actor declared is ``Turn.turn_state``."""

    QUEUED = "queued"
    """Has something to do, and no runner yet."""
    RUNNING = "running"
    """A runner has it; one turn of a session at most."""
    SUSPENDED = "suspended"
    """Waits for people's answers to approvals. Its session is free for other turns."""
    WAITING = "waiting"
    """Waits for the result of a background job. Its session is free too."""
    SETTLED = "settled"
    """Over, however it ended."""


TURN = Machine(
    "A turn",
    {
        TurnStatus.QUEUED: (TurnStatus.RUNNING, TurnStatus.SETTLED),
        TurnStatus.RUNNING: (
            TurnStatus.RUNNING,
            TurnStatus.QUEUED,
            TurnStatus.SUSPENDED,
            TurnStatus.WAITING,
            TurnStatus.SETTLED,
        ),
        TurnStatus.SUSPENDED: (TurnStatus.QUEUED, TurnStatus.SETTLED),
        TurnStatus.WAITING: (TurnStatus.QUEUED, TurnStatus.SETTLED),
        TurnStatus.SETTLED: (),
    },
)
"""``running`` to ``running`` is a runner taking over from one that died; ``running`` to ``queued`` one that stops."""

BUSY = frozenset({TurnStatus.RUNNING, TurnStatus.QUEUED, TurnStatus.WAITING})
"""The states of a turn in which an agent is at work, or will be without anybody doing anything."""


def is_busy(turns: Collection[tuple[int, str, int]], *, taken: bool = False) -> bool:
    """Whether an agent is at work in some of ``turns``, or will be without anybody doing anything: each its number, its
    status and the number of the turn that waits for it, 0 for none. ``taken``: a member of staff has the conversation.

    Who has asked another one does nothing while that waits for a person; what is queued does nothing while staff have
    the conversation.
    """
    paused = {asker for _, status, asker in turns if asker and status == TurnStatus.SUSPENDED}
    idle = paused | {number for number, _, asker in turns if asker in paused}
    at_work = BUSY - {TurnStatus.QUEUED} if taken else BUSY
    return any(status in at_work and number not in idle for number, status, _ in turns)


class CallStatus(StrEnum):
    """Where a tool call stands (``ToolCall.state``)."""

    REQUESTED = "requested"
    """The model made it; nothing has been done about it."""
    AWAITING_APPROVAL = "awaiting-approval"
    """A person is asked."""
    APPROVED = "approved"
    """Granted, and not begun."""
    DENIED = "denied"
    """Not granted, or not in time. It never runs."""
    RUNNING = "running"
    """Claimed: from here on it may have taken effect."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """It did not do what it was asked, or was never run."""
    UNKNOWN = "unknown"
    """Whoever ran it is gone, and it may have taken effect. Only staff find out (D19)."""


TOOL_CALL = Machine(
    "A tool call",
    {
        CallStatus.REQUESTED: (CallStatus.RUNNING, CallStatus.AWAITING_APPROVAL, CallStatus.FAILED),
        CallStatus.AWAITING_APPROVAL: (CallStatus.APPROVED, CallStatus.DENIED),
        CallStatus.APPROVED: (CallStatus.RUNNING, CallStatus.FAILED),
        CallStatus.RUNNING: (
            CallStatus.RUNNING,
            CallStatus.SUCCEEDED,
            CallStatus.FAILED,
            CallStatus.UNKNOWN,
        ),
        CallStatus.SUCCEEDED: (),
        CallStatus.FAILED: (),
        CallStatus.DENIED: (),
        CallStatus.UNKNOWN: (CallStatus.SUCCEEDED, CallStatus.FAILED),
    },
)
"""``running`` to ``running`` is an idempotent call run again after a crash. ``unknown`` is left by staff only."""

UNFINISHED = frozenset({CallStatus.REQUESTED, CallStatus.APPROVED, CallStatus.RUNNING})
"""The states of a call that somebody has to finish, and that is nobody once its turn is over."""


class ApprovalStatus(StrEnum):
    """Where an approval stands (``Approval.state``)."""

    PENDING = "pending"
    """Asked, and open."""
    GRANTED = "granted"
    DENIED = "denied"
    EXPIRED = "expired"
    """Nobody decided in time (D18)."""


APPROVAL = Machine(
    "An approval",
    {
        ApprovalStatus.PENDING: (ApprovalStatus.GRANTED, ApprovalStatus.DENIED, ApprovalStatus.EXPIRED),
        ApprovalStatus.GRANTED: (),
        ApprovalStatus.DENIED: (),
        ApprovalStatus.EXPIRED: (),
    },
)
