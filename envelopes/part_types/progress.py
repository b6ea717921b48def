"""``progress``: how far long work is (respond() document, "Envelope parts"; D10)."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from envelopes.protocol.payloads import Payload, Short
from envelopes.registries import retelling
from envelopes.registries.part_types import ACTOR, PartType
from envelopes.registries.retelling import data_of
from envelopes.types import JsonObject


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


def _in_words(part: JsonObject) -> str:
    data = data_of(part)
    amount = f" {data['current']:g}/{data['total']:g}" if data.get("current") and data.get("total") else ""
    return f"{data.get('label') or data.get('id', '?')}: {data.get('status', 'running')}{amount}."


PROGRESS = PartType(
    "progress",
    ACTOR,
    "flush",
    "drop",
    data="required",
    data_model=Progress,
    canonical=True,
    retold=retelling.nothing,
    in_words=_in_words,
    description="a step of long work; the same id moves its line; status: todo, running, done, failed, skipped",
    example={"data": {"id": "fares", "label": "Comparing fares", "current": 3, "total": 8}},
)
