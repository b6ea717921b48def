"""Every interface of Sally, filled as in the demo."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from beachsite.demo import catalogue, fares
from beachsite.demo.fares import Wish
from beachsite.demo.surfaces import research
from beachsite.demo.surfaces.flights import flight_results, mark_selected, refill
from beachsite.demo.surfaces.hotels import hotel_results, mark_chosen
from beachsite.demo.surfaces.passenger import booking_card, passenger_form
from beachsite.demo.surfaces.refine import refine_form
from envelopes.types import JsonObject

DAY = date(2026, 8, 15)


def flights(**limits: object) -> JsonObject:
    """What ``search_flights`` answers for the example of the protocol."""
    wish = Wish("LGW", "CFU", DAY, 2, **limits)  # type: ignore[arg-type]
    return {
        "route": {
            "origin": "London Gatwick",
            "originCode": "LGW",
            "destination": "Corfu",
            "destinationCode": "CFU",
        },
        "date": DAY.isoformat(),
        "passengers": 2,
        "currency": "GBP",
        "filters": {
            "maxPrice": wish.max_price,
            "directOnly": wish.direct_only,
            "timeOfDay": wish.time_of_day,
        },
        "flights": fares.find_offers(wish),
        "flightsThatDay": 4,
        "lowestByDay": [],
    }


def hotels() -> JsonObject:
    """What ``search_hotels`` answers for Corfu."""
    return {
        "destination": "Corfu",
        "checkIn": "2026-08-15",
        "checkOut": "2026-08-18",
        "nights": 3,
        "guests": 2,
        "hotels": [
            {
                "id": hotel.id,
                "name": hotel.name,
                "area": hotel.area,
                "stars": hotel.stars,
                "score": hotel.score,
                "blurb": hotel.blurb,
                "extras": ", ".join(hotel.extras).capitalize(),
                "cancellation": f"Free cancellation until {hotel.free_cancellation_days} days before",
                "picture": f"/static/{hotel.picture}",
                "pricePerNight": hotel.price,
                "totalPrice": hotel.price * 3,
                "currency": hotel.currency,
            }
            for hotel in catalogue.hotels()
            if hotel.destination == "Corfu"
        ],
    }


def booking() -> JsonObject:
    offer = fares.offer(catalogue.timetable()["EJ4521"], DAY, 2)
    return {
        "reference": "BCH-7QK2M",
        "flight": "easyJet EJ4521",
        "origin": "London Gatwick",
        "destination": "Corfu",
        "departure": offer["departure"],
        "arrival": offer["arrival"],
        "leadPassenger": "Ada Lovelace",
        "email": "ada@example.com",
        "tickets": 2,
        "total": 188,
        "currency": "GBP",
        "baggage": offer["baggage"],
    }


def dashboard(sections: int) -> list[JsonObject]:
    """The research of Corfu after so many sections, with the next one begun."""
    place = catalogue.destinations()["corfu"]
    messages = research.dashboard("s", place, f"/static/{place.picture}").create()
    sources: list[JsonObject] = []
    for number, key in enumerate(list(research.SECTIONS)[: sections + 1], 1):
        messages += research.section_started("s", key)
        if number <= sections:
            sources += [vars(source) for source in place.sources if source.section == key]
            messages += research.section_done("s", key, research.section(place, key), number, list(sources))
    return messages


def _offer() -> JsonObject:
    return fares.offer(catalogue.timetable()["EJ4521"], DAY, 2)


ALL: dict[str, Callable[[], list[JsonObject]]] = {
    "flights": lambda: flight_results("s", flights()),
    "flights-selected": lambda: flight_results("s", flights()) + mark_selected("s", 1, None),
    "flights-refilled": lambda: flight_results("s", flights()) + refill("s", flights(direct_only=True)),
    "flights-none": lambda: flight_results("s", flights(max_price=1)),
    "refine": lambda: refine_form("s", "flights-1", flights(), date(2026, 1, 1)),
    "passenger": lambda: passenger_form("s", _offer(), 2),
    "booking": lambda: booking_card("s", booking()),
    "hotels": lambda: hotel_results("s", hotels()),
    "hotels-chosen": lambda: hotel_results("s", hotels()) + mark_chosen("s", 1, None),
    "dashboard-empty": lambda: dashboard(0),
    "dashboard-half": lambda: dashboard(2),
    "dashboard": lambda: dashboard(5),
}
