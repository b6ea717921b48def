"""What ``data`` holds, by part type (envelope document; D10 where the sources leave it open)."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, StrictStr, field_validator

Short = Annotated[str, Field(max_length=512)]


class Payload(BaseModel):
    """Base of the payloads: unknown keys are kept, since peers may know more than we do."""

    model_config = ConfigDict(extra="allow")


class ArtifactRef(Payload):
    artifactId: Annotated[str, Field(min_length=1, max_length=128)]
    mimeType: Short
    sizeBytes: Annotated[int, Field(ge=0, le=2**53)]
    name: Short | None = None
    url: Annotated[str, Field(max_length=4096)] | None = None


class Citation(Payload):
    path: Annotated[str, Field(max_length=1024)]
    title: Short
    url: Annotated[str, Field(max_length=4096)] | None = None
    quote: Annotated[str, Field(max_length=4096)] | None = None


class Progress(Payload):
    """One step of long work; parts with the same ``id`` move one line of one card.

    ``current`` and ``total`` are units of work. What is no finite number there counts as not given: a bar without
    numbers is better than work that nobody sees. Whatever they hold, a bar never leaves 0 to 100 and never goes back.
    """

    id: Annotated[str, Field(min_length=1, max_length=128)]
    label: Short | None = None
    current: float | None = None
    total: float | None = None
    status: Literal["todo", "running", "done", "failed", "skipped"] = "running"
    group: Short | None = None

    @field_validator("current", "total", mode="before")
    @classmethod
    def _number_or_nothing(cls, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        try:
            return value if math.isfinite(value) else None
        except OverflowError:
            return None


class ReasoningTrace(Payload):
    text: str | None = None
    blocks: list[dict[str, Any]] | None = None
    model: str = ""


class SetState(RootModel[dict[str, StrictStr]]):
    """``{"<component>.<coordinate>": "<state>"}``."""


class Clarify(Payload):
    """Optional answers to choose from, shown as buttons that send their text."""

    choices: Annotated[list[Short], Field(max_length=12)] = []


class Problem(Payload):
    """What an error part may add: a stable code, whether asking again may help, and what to ask instead."""

    code: Short | None = None
    title: Short | None = None
    retry: bool = False
    choices: Annotated[list[Short], Field(max_length=12)] = []


class ApprovalRequest(BaseModel):
    """Exactly the fields of the approval document; ours (digest, attempt, risk) go under ``metadata`` (D10)."""

    model_config = ConfigDict(extra="forbid")

    approvalId: str
    toolName: str
    toolCallId: str
    args: dict[str, Any]
    handler: str
    turn: str
    session: str
    expiresAt: str | None = None


class ApprovalResponse(BaseModel):
    model_config = ConfigDict(extra="forbid")

    approvalId: str
    decision: Literal["granted", "denied"]
    reason: str | None = None
    decidedBy: str | None = None
    decidedAt: str
