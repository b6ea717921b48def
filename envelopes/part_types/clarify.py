"""``clarify``: a question without whose answer the actor cannot go on (respond() document, "Conversational
signals")."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from envelopes.part_types.response import RESPONSE
from envelopes.protocol.payloads import Payload, Short
from envelopes.registries.part_types import ACTOR, PartType


class Clarify(Payload):
    """Optional answers to choose from, shown as buttons that send their text."""

    choices: Annotated[list[Short], Field(max_length=12)] = []


CLARIFY = PartType(
    "clarify",
    ACTOR,
    "flush",
    "flush",
    text="required",
    data="optional",
    data_model=Clarify,
    streams_text=True,
    replaces=frozenset({RESPONSE.name}),
    needed_for="clarifying",
    canonical=True,
    description="one question, in place of a response; choices become buttons",
    example={"text": "From which airport?", "data": {"choices": ["Gatwick", "Heathrow"]}},
)
