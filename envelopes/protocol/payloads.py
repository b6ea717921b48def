"""What the payloads of part types are made of; each of them stands with its type (``envelopes.part_types``)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Short = Annotated[str, Field(max_length=512)]


class Payload(BaseModel):
    """Base of the payloads: unknown keys are kept, since peers may know more than we do."""

    model_config = ConfigDict(extra="allow")
