"""``ack``: what was understood, and what the actor is doing (respond() document, "Conversational signals")."""

from __future__ import annotations

from envelopes.registries import retelling
from envelopes.registries.part_types import ACTOR, PartType

ACK = PartType(
    "ack",
    ACTOR,
    "flush",
    "drop",
    text="required",
    streams_text=True,
    canonical=True,
    retold=retelling.nothing,
    description="what you understood and are about to do",
    example={"text": "Looking for direct flights."},
)
