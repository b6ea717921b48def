from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pydantic import ValidationError

from beachsite.demo.errors import BadDate, NoRoute, SystemDown, UnknownPlace
from beachsite.demo.tools import SearchFlights, SearchHotels, search_flights, search_hotels
from tests.beachsite.demo.stage import TOOLS, Context


def wanted(**more: Any) -> SearchFlights:
    soon = timezone.localdate() + timedelta(days=30)
    return SearchFlights(**{"origin": "London Gatwick", "destination": "Corfu", "date": soon, **more})


async def test_a_search_says_what_was_asked_and_what_was_found() -> None:
    found = await search_flights(Context(), wanted(passengers=2))

    assert found["route"]["originCode"] == "LGW"
    assert found["passengers"] == 2
    assert found["flights"]
    assert found["flightsThatDay"] == len(found["flights"])
    assert len(found["lowestByDay"]) == 7


async def test_filters_reach_the_search() -> None:
    found = await search_flights(Context(), wanted(direct_only=True, max_price=1))

    assert found["flights"] == []
    assert found["flightsThatDay"] > 0
    assert found["filters"] == {"maxPrice": 1.0, "directOnly": True, "timeOfDay": "any"}


async def test_a_route_that_nobody_flies() -> None:
    with pytest.raises(NoRoute, match="Nobody flies from Funchal to Copenhagen") as caught:
        await search_flights(Context(), wanted(origin="Funchal", destination="Copenhagen"))

    assert caught.value.code == "no_route"


async def test_a_place_that_is_not_there() -> None:
    with pytest.raises(UnknownPlace, match=r"no airport called “Narnia”\. Choose one of London Gatwick"):
        await search_flights(Context(), wanted(destination="Narnia"))


async def test_atlantis_is_down() -> None:
    with pytest.raises(SystemDown) as caught:
        await search_flights(Context(), wanted(destination="Atlantis"))

    assert caught.value.code == "system_down"


@pytest.mark.parametrize(
    ("days", "words"), [(-1, "Choose today or a later date."), (500, "or an earlier date")]
)
async def test_days_that_cannot_be_searched(days: int, words: str) -> None:
    with pytest.raises(BadDate, match=words):
        await search_flights(Context(), wanted(date=timezone.localdate() + timedelta(days=days)))


@pytest.mark.parametrize("bad", [{"passengers": 0}, {"passengers": 10}, {"max_price": -5}, {"surprise": 1}])
def test_arguments_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        wanted(**bad)


async def test_hotels_best_first() -> None:
    day = timezone.localdate() + timedelta(days=3)

    found = await search_hotels(Context(), SearchHotels(destination="lisbon", check_in=day, nights=2))

    scores = [hotel["score"] for hotel in found["hotels"]]
    assert scores == sorted(scores, reverse=True)
    assert found["hotels"][0]["totalPrice"] == found["hotels"][0]["pricePerNight"] * 2
    assert found["checkOut"] == (day + timedelta(days=2)).isoformat()


async def test_hotels_under_a_price() -> None:
    day = timezone.localdate()

    found = await search_hotels(Context(), SearchHotels(destination="Corfu", check_in=day, max_price=100))

    assert [hotel["name"] for hotel in found["hotels"]] == ["Paleo Bay Rooms"]


async def test_hotels_nowhere() -> None:
    with pytest.raises(UnknownPlace):
        await search_hotels(Context(), SearchHotels(destination="Oslo", check_in=timezone.localdate()))


def test_every_tool_describes_itself() -> None:
    for tool in TOOLS.values():
        definition = tool.definition()
        assert definition["description"]
        assert definition["input_schema"]["type"] == "object"
        assert tool.label


def test_only_buying_asks_and_only_buying_runs_once() -> None:
    assert {tool.name for tool in TOOLS.values() if tool.approval} == {"book_flight"}
    assert {tool.name for tool in TOOLS.values() if not tool.idempotent} == {"book_flight"}
    assert {tool.name for tool in TOOLS.values() if tool.background} == {"research_destination"}
