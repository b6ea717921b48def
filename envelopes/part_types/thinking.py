"""``thinking``: a note on the way (respond() document, "Conversational signals")."""

from __future__ import annotations

from envelopes.registries import retelling
from envelopes.registries.part_types import ACTOR, PartType

THINKING = PartType(
    "thinking",
    ACTOR,
    "flush",
    "drop",
    text="required",
    streams_text=True,
    canonical=True,
    retold=retelling.nothing,
    description="a short note on the way",
    example={"text": "Four found; comparing fares."},
)
