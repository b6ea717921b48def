"""The file of one conversation: JSON Lines, each of a kind that is checked strictly (``transferring``).

The first line is the conversation, the last one counts the lines and holds the SHA-256 of all before it, so a file that
was cut off or changed on its way is not taken for a whole one. Keys of principals leave the site as ``elsewhere:...``:
numbers of accounts mean other people on another site.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from envelopes.registries.statuses import APPROVAL, TOOL_CALL, TURN
from envelopes.types import Json

FORMAT = 1
LINE_BYTES = 8_000_000
LINES = 500_000
FILE_BYTES = 1_000_000_000
PIECE_BYTES = 3_000_000
"""Of a file in one line, before it is written as Base64."""

PublicId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{26}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Moment = Annotated[AwareDatetime, Field(strict=False)]
Seq = Annotated[int, Field(ge=0, le=2**53)]


Text8 = Annotated[str, StringConstraints(max_length=8)]
Text9 = Annotated[str, StringConstraints(max_length=9)]
Text16 = Annotated[str, StringConstraints(max_length=16)]
Text20 = Annotated[str, StringConstraints(max_length=20)]
Text32 = Annotated[str, StringConstraints(max_length=32)]
Text35 = Annotated[str, StringConstraints(max_length=35)]
Text64 = Annotated[str, StringConstraints(max_length=64)]
Text120 = Annotated[str, StringConstraints(max_length=120)]
Text128 = Annotated[str, StringConstraints(max_length=128)]
Text129 = Annotated[str, StringConstraints(max_length=129)]
Text160 = Annotated[str, StringConstraints(max_length=160)]
Text255 = Annotated[str, StringConstraints(max_length=255)]
Text512 = Annotated[str, StringConstraints(max_length=512)]


class Line(BaseModel):
    """A line of any kind: nothing is converted, and nothing else is in it."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ConversationLine(Line):
    kind: Literal["conversation"] = "conversation"
    format: Literal[1] = 1
    id: PublicId
    actor: Text64
    title: Text120
    locale: Text35
    timezone: Text64
    heldBy: Text64
    events: Seq
    turns: Count
    createdAt: Moment


class ParticipantLine(Line):
    kind: Literal["participant"] = "participant"
    role: Literal["owner", "agent"]
    name: Text120


class TurnLine(Line):
    kind: Literal["turn"] = "turn"
    id: PublicId
    number: Annotated[int, Field(ge=1, le=2**31 - 1)]
    actor: Text64
    status: Text9
    turnState: Text32
    finalizedBy: Text16
    trigger: dict[str, Any]
    triggerSeq: Seq
    originators: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    model: Text128
    results: dict[str, Any]
    steps: Count
    passedTo: Count
    delegatedFrom: Count
    joined: Count
    createdAt: Moment
    settledAt: Moment | None


class CallLine(Line):
    kind: Literal["call"] = "call"
    turn: Count
    callId: Text128
    position: Count
    name: Text128
    args: dict[str, Any]
    digest: Digest
    state: Text20
    background: bool
    result: Any
    error: dict[str, Any] | None
    createdAt: Moment
    finishedAt: Moment | None


class ApprovalLine(Line):
    kind: Literal["approval"] = "approval"
    id: PublicId
    turn: Count
    callId: Text128
    toolName: Text128
    args: dict[str, Any]
    handler: Text64
    digest: Digest
    risk: Literal["low", "medium", "high"]
    question: Text512
    why: Text512
    attempt: Count
    version: Count
    rule: dict[str, Any]
    state: Text8
    requestedAt: Moment
    expiresAt: Moment | None
    decidedAt: Moment | None
    decidedBy: Text128
    reason: Text512
    source: Text16


class VersionLine(Line):
    kind: Literal["version"] = "version"
    id: PublicId
    approval: PublicId
    version: Count
    args: dict[str, Any]
    digest: Digest
    question: Text512
    why: Text512
    rule: dict[str, Any]
    attempt: Count
    requestedAt: Moment
    expiresAt: Moment | None
    cause: Literal["edited", "expired"]
    replacedAt: Moment
    by: Text128
    name: Text255


class DecisionLine(Line):
    kind: Literal["decision"] = "decision"
    approval: PublicId
    version: Count
    decision: Literal["granted", "denied"]
    by: Text128
    name: Text255
    role: Text160
    source: Text16
    reason: Text512
    digest: Digest
    at: Moment


class StateLine(Line):
    kind: Literal["state"] = "state"
    name: Text129
    value: Text128
    seq: Seq


class EventLine(Line):
    kind: Literal["event"] = "event"
    seq: Annotated[int, Field(ge=1, le=2**53)]
    event: Text16
    partType: Text64
    audience: Literal["delivered", "audit"]
    actor: Text64
    turn: Count
    data: dict[str, Any]
    at: Moment


class FileLine(Line):
    kind: Literal["file"] = "file"
    id: PublicId
    owner: Text128
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    mimeType: Text128
    sizeBytes: Annotated[int, Field(ge=0, le=2**40)]
    sha256: Digest


class BytesLine(Line):
    kind: Literal["bytes"] = "bytes"
    file: PublicId
    base64: str


class EndLine(Line):
    kind: Literal["end"] = "end"
    lines: Count
    sha256: Digest


KINDS: dict[str, type[Line]] = {
    "conversation": ConversationLine,
    "participant": ParticipantLine,
    "turn": TurnLine,
    "call": CallLine,
    "approval": ApprovalLine,
    "version": VersionLine,
    "decision": DecisionLine,
    "state": StateLine,
    "event": EventLine,
    "file": FileLine,
    "bytes": BytesLine,
    "end": EndLine,
}
STATES = {"turn": TURN.states, "call": TOOL_CALL.states, "approval": APPROVAL.states}

_KEYS = frozenset({"by", "decidedBy", "resolvedBy", "editedBy", "principal", "key", "owner"})
_PRINCIPAL = re.compile(r"(user|anonymous|peer|service):[A-Za-z0-9_.-]{1,46}")


def elsewhere(key: str) -> str:
    """The key of a principal as other sites know it; anything else as it is."""
    return f"elsewhere:{key}" if _PRINCIPAL.fullmatch(key) else key


def unnamed(value: Json) -> Json:
    """``value`` with the keys of principals that it holds, as values or as names, as ``elsewhere``."""
    if isinstance(value, dict):
        return {
            elsewhere(name): elsewhere(item) if name in _KEYS and isinstance(item, str) else unnamed(item)
            for name, item in value.items()
        }
    return [unnamed(item) for item in value] if isinstance(value, list) else value


def moment(at: datetime | None) -> str | None:
    """ISO 8601 with microseconds, so that nothing is lost."""
    return at.isoformat() if at is not None else None
