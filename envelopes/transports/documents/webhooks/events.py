"""Which rows of the log are events for services outside, and what is told of each: where to look, no words of anybody.
Pure."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes.part_types.approval_request import APPROVAL_REQUEST
from envelopes.protocol.rows import Row
from envelopes.transports.documents.shapes.common import canonical_id
from envelopes.types import JsonObject

EVENTS: dict[str, str] = {
    "message.received": "somebody has said something",
    "approval.waiting": "a person is asked before a tool runs",
    "turn.settled": "a turn has ended, as it should",
    "turn.failed": "a turn has ended with an error, or for its time",
}
"""What can be subscribed to."""

ROWS = ("message", "part", "settled")
"""Kinds of rows among which there are any."""

_FAILED = frozenset({"error", "timeout"})


@dataclass(frozen=True, slots=True)
class Told:
    """One event. ``text`` is what it is in words, for people."""

    type: str
    id: str
    data: JsonObject
    text: str


def event_of(session_id: str, row: Row) -> Told | None:
    """The event that a row is; None for most."""
    match row.kind:
        case "message":
            return _told("message.received", session_id, row, {}, "There is a new message.")
        case "part" if row.part_type == APPROVAL_REQUEST.name:
            asked = row.data["part"]["data"]
            facts = {"approvalId": asked["approvalId"], "toolName": asked["toolName"]}
            return _told("approval.waiting", session_id, row, facts, "A tool waits for somebody's approval.")
        case "settled":
            ended = row.data["finalizedBy"]
            failed = ended in _FAILED
            facts = {"turnState": row.data["turnState"], "finalizedBy": ended}
            words = "A turn has failed." if failed else "A turn has ended."
            return _told("turn.failed" if failed else "turn.settled", session_id, row, facts, words)
        case _:
            return None


def _told(kind: str, session_id: str, row: Row, facts: JsonObject, text: str) -> Told:
    name = canonical_id(int(row.at.timestamp() * 1_000), session_id, row.seq, kind)
    return Told(kind, name, {"seq": row.seq, "turn": row.turn, "actor": row.actor, **facts}, text)
