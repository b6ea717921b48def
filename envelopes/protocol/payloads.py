"""What the payloads of part types are made of; each of them stands with its type (``envelopes.part_types``)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Short = Annotated[str, Field(max_length=512)]


class Payload(BaseModel):
    """Base of the payloads: unknown keys are kept, since peers may know more than we do."""

    model_config = ConfigDict(extra="allow")


MAX_ATTEMPTS = 5
MAX_RETRY_SECONDS = 3600.0


class RetryPolicy(BaseModel):
    """What the runtime does by itself when a turn has settled with an error: at most ``attempts`` times, each
    ``afterSeconds`` after the one before, it tries the turn again (``mode`` turn) or emits the error again (emit)."""

    model_config = ConfigDict(extra="forbid")

    mode: Literal["turn", "emit"] = "turn"
    attempts: Annotated[int, Field(ge=1, le=MAX_ATTEMPTS)] = 1
    afterSeconds: Annotated[float, Field(ge=0, le=MAX_RETRY_SECONDS, allow_inf_nan=False)] = 30.0
