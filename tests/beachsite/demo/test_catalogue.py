"""The data that ships: complete, consistent, and only local pictures."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from django.contrib.staticfiles import finders

from beachsite.demo import catalogue


def test_every_flight_names_an_airline_and_two_airports() -> None:
    ports = catalogue.airports()

    for flight in catalogue.timetable().values():
        assert flight.airline.name
        assert {flight.origin, flight.destination} <= set(ports)
        assert flight.origin != flight.destination
        assert flight.days <= set(range(1, 8))
        assert flight.days
        assert flight.price > 0


def test_there_are_enough_of_everything() -> None:
    assert len(catalogue.timetable()) >= 40
    assert len(catalogue.hotels()) >= 12
    assert len(catalogue.destinations()) == 5


def test_time_zones_exist() -> None:
    for airport in catalogue.airports().values():
        ZoneInfo(airport.time_zone)


def test_no_nickname_means_two_airports() -> None:
    meant: dict[str, set[str]] = {}
    for airport in catalogue.airports().values():
        for alias in airport.aliases:
            meant.setdefault(catalogue.folded(alias), set()).add(airport.code)

    assert all(len(codes) == 1 for codes in meant.values())


def test_pictures_are_there_and_hold_nothing_active() -> None:
    pictures = [airline.picture for airline in catalogue.airlines().values()]
    pictures += [hotel.picture for hotel in catalogue.hotels()]
    pictures += [place.picture for place in catalogue.destinations().values()]

    for picture in set(pictures):
        found = finders.find(picture)
        assert found, picture
        drawing = Path(str(found)).read_text(encoding="utf-8")
        assert not any(
            word in drawing for word in ("<script", "href", "style=", "url(", "onload", "<foreignObject")
        )


def test_every_section_has_a_source_at_the_example_domain() -> None:
    for place in catalogue.destinations().values():
        assert {source.section for source in place.sources} == {
            "weather",
            "sights",
            "around",
            "food",
            "budget",
        }
        for url in [place.page, *(source.url for source in place.sources)]:
            assert urlsplit(url)[:2] == ("https", "example.com")
        assert len(place.weather["highs"]) == len(place.weather["rainDays"]) == 12


def test_hotels_are_at_destinations() -> None:
    for hotel in catalogue.hotels():
        assert hotel.destination.lower() in catalogue.destinations()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("London Gatwick", "LGW"),
        ("lgw", "LGW"),
        ("KØBENHAVN", "CPH"),
        ("corfu airport", "CFU"),
        ("Madeira", "FNC"),
    ],
)
def test_airports_by_any_of_their_names(words: str, code: str) -> None:
    found = catalogue.find_airport(words)

    assert found is not None
    assert found.code == code


def test_a_city_with_two_airports_is_none_of_them() -> None:
    assert catalogue.find_airport("London") is None


@pytest.mark.parametrize("words", ["EJ4521", "ej 4521", "easyJet EJ4521"])
def test_flights_by_number(words: str) -> None:
    found = catalogue.find_flight(words)

    assert found is not None
    assert found.title == "easyJet EJ4521"
