"""``response``: the answer (respond() document, "Conversational signals")."""

from __future__ import annotations

from envelopes.registries.part_types import ACTOR, PartType

RESPONSE = PartType(
    "response",
    ACTOR,
    "flush",
    "once",
    text="required",
    streams_text=True,
    canonical=True,
    description="the answer, in Markdown",
    example={"text": "Two are direct: **EJ4521** at £94, BA2043 at £187."},
)
