"""A part type of its own: the way of a parcel. templates/helpdesk/parcel.html draws it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from envelopes import ACTOR, JsonObject, PartType


class Stop(BaseModel):
    place: str
    time: str
    note: str = ""


class Parcel(BaseModel):
    order: str
    carrier: str
    stops: list[Stop] = Field(min_length=1, max_length=30)


def in_words(part: JsonObject) -> str:
    """For staff, and for models of later turns."""
    data = part["data"]
    last = data["stops"][-1]
    return f"Parcel of {data['order']} with {data['carrier']}: {last['place']}, {last['time']}"


PARCEL = PartType(
    "helpdesk.parcel",
    ACTOR,
    streaming="flush",
    buffered="once",
    data="required",
    data_model=Parcel,
    description="the way of a parcel so far; the last stop is where it is",
    example={
        "data": {
            "order": "L-1042",
            "carrier": "Blue Van",
            "stops": [{"place": "Depot, Lyon", "time": "Tuesday 22:45"}],
        }
    },
    in_words=in_words,
    retold=lambda part: f"[{in_words(part)}]",
    template="helpdesk/parcel.html",
)
