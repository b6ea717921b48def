"""``error``: a failure that the person needs to know about (respond() document, "Conversational signals")."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from envelopes.protocol.payloads import Payload, RetryPolicy, Short
from envelopes.registries.part_types import ACTOR, PartType


class Problem(Payload):
    """What an error part may add: a stable code, whether asking again may help, what to ask instead, and whether the
    runtime tries again by itself (``turns.retrying``)."""

    code: Short | None = None
    title: Short | None = None
    retry: bool = False
    retryPolicy: RetryPolicy | None = None
    choices: Annotated[list[Short], Field(max_length=12)] = []


ERROR = PartType(
    "error",
    ACTOR,
    "flush",
    "flush",
    text="required",
    data="optional",
    data_model=Problem,
    may_retry=True,
    needed_for="error",
    canonical=True,
    description="what failed, and what did not happen; retryPolicy {mode: turn|emit, attempts, afterSeconds}",
    example={"text": "The airline does not answer. Nothing was booked.", "data": {"retry": True}},
)
