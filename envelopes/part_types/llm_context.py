"""``llm-context``: what the data means, for the model of a peer (envelope document, "The canonical three")."""

from __future__ import annotations

from envelopes.registries import retelling
from envelopes.registries.part_types import ACTOR, PartType

LLM_CONTEXT = PartType(
    "llm-context",
    ACTOR,
    "once",
    "once",
    text="required",
    requires_peer_consumes=True,
    canonical=True,
    retold=retelling.nothing,
    description="for another agent that asks you: what the data means, not the data again",
    example={"text": "EJ4521 costs half as much but leaves at 06:15."},
    # Where there is a translator, that one writes it.
    offered=lambda actor: getattr(actor, "translator", None) is None,
)
