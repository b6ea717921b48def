"""A part type: the stops of a trip."""

from __future__ import annotations

from pydantic import BaseModel

from envelopes.registries.part_types import ACTOR, PartType
from envelopes.types import JsonObject


class Itinerary(BaseModel):
    stops: list[str]


def in_words(part: JsonObject) -> str:
    return f"Itinerary: {', '.join(part['data']['stops'])}"


ITINERARY = PartType(
    "planner.itinerary",
    ACTOR,
    streaming="flush",
    buffered="once",
    data="required",
    data_model=Itinerary,
    description="the stops of a trip, in their order",
    example={"data": {"stops": ["Corfu", "Paxos"]}},
    in_words=in_words,
    retold=lambda part: f"[{in_words(part)}]",
    template="planner/itinerary.html",
    module="planner/itinerary.js",
)
