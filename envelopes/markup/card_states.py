"""The states of an approval card, and which of them the state of the call means that it guards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from envelopes.registries.statuses import CallStatus

FOLDED: Final = ("done", "denied", "expired", "withdrawn", "failed", "unknown")
"""Nothing comes after these: the card is one line that opens, with a sentence below it where there is more to say. The
others are pending and running."""

_OF_CALL: Final[Mapping[object, str]] = {
    CallStatus.APPROVED: "running",
    CallStatus.RUNNING: "running",
    CallStatus.SUCCEEDED: "done",
    CallStatus.FAILED: "failed",
    CallStatus.UNKNOWN: "unknown",
    CallStatus.DENIED: "denied",
}


def card_state(call_state: object) -> str | None:
    """The state of the card of a call in this state; None for one that says nothing about the card."""
    return _OF_CALL.get(call_state) if isinstance(call_state, str) else None
