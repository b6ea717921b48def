"""What flies on a day and what it costs: the timetable turned into offers, the same ones every time it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal
from zlib import crc32
from zoneinfo import ZoneInfo

from babel.numbers import format_currency
from django.templatetags.static import static

from beachsite.demo.catalogue import Flight, airports, timetable
from envelopes.types import JsonObject

TimeOfDay = Literal["any", "morning", "afternoon", "evening"]
HOURS: dict[str, tuple[str, str]] = {
    "any": ("00:00", "24:00"),
    "morning": ("00:00", "12:00"),
    "afternoon": ("12:00", "18:00"),
    "evening": ("18:00", "24:00"),
}
_SEASON = (0.86, 0.88, 0.93, 1.0, 1.04, 1.12, 1.2, 1.22, 1.06, 0.96, 0.87, 1.05)
_WEEKDAY = (0.96, 0.92, 0.94, 1.0, 1.1, 1.08, 1.05)


@dataclass(frozen=True)
class Wish:
    """What a person wants to fly. Airports are codes."""

    origin: str
    destination: str
    day: date
    passengers: int = 1
    max_price: float | None = None
    direct_only: bool = False
    time_of_day: TimeOfDay = "any"


def money(amount: float, currency: str) -> str:
    """ "£188.00"."""
    return format_currency(amount, currency, locale="en_GB")


def fare(flight: Flight, day: date) -> int:
    """The price for one person: a fixed fare if the timetable has one, else season, weekday and a steady jitter."""
    fixed = flight.price_on.get(f"{day:%m-%d}")
    if fixed is not None:
        return fixed
    jitter = crc32(f"{flight.number} {day.isoformat()}".encode()) % 13 - 6
    return round(flight.price * _SEASON[day.month - 1] * _WEEKDAY[day.weekday()] * (1 + jitter / 100))


def offer(flight: Flight, day: date, passengers: int = 1) -> JsonObject:
    """One flight on one day, in the shape of domain data. Times are local to their airport, so without an offset."""
    start, end = airports()[flight.origin], airports()[flight.destination]
    leaves = datetime.fromisoformat(f"{day.isoformat()}T{flight.departs}:00")
    lands = leaves.replace(tzinfo=ZoneInfo(start.time_zone)).astimezone(ZoneInfo("UTC"))
    lands = (
        (lands + timedelta(minutes=flight.minutes)).astimezone(ZoneInfo(end.time_zone)).replace(tzinfo=None)
    )
    price = fare(flight, day)
    airline = flight.airline
    return {
        "id": flight.number.replace(" ", ""),
        "flightNumber": flight.number,
        "airline": airline.name,
        "picture": static(airline.picture),
        "origin": flight.origin,
        "destination": flight.destination,
        "departure": leaves.isoformat(),
        "arrival": lands.isoformat(),
        "duration": f"{flight.minutes // 60} h {flight.minutes % 60:02d}",
        "stops": 1 if flight.via else 0,
        "stopsText": f"1 stop, {flight.via}" if flight.via else "Direct",
        "baggage": airline.baggage,
        "pricePerPerson": price,
        "totalPrice": price * passengers,
        "currency": start.currency,
    }


def routes_from(origin: str) -> list[str]:
    """Where one can fly to from an airport, by name."""
    return sorted({airports()[f.destination].name for f in timetable().values() if f.origin == origin})


def serves(origin: str, destination: str) -> bool:
    return any(f.origin == origin and f.destination == destination for f in timetable().values())


def flying(origin: str, destination: str, day: date) -> list[Flight]:
    return [
        f
        for f in timetable().values()
        if f.origin == origin and f.destination == destination and day.isoweekday() in f.days
    ]


def find_offers(wish: Wish) -> list[JsonObject]:
    """The offers that fit, cheapest first."""
    earliest, latest = HOURS[wish.time_of_day]
    found = [
        offer(flight, wish.day, wish.passengers)
        for flight in flying(wish.origin, wish.destination, wish.day)
        if earliest <= flight.departs < latest and not (wish.direct_only and flight.via)
    ]
    if wish.max_price is not None:
        found = [one for one in found if one["pricePerPerson"] <= wish.max_price]
    return sorted(found, key=lambda one: (one["pricePerPerson"], one["departure"]))


def lowest_by_day(origin: str, destination: str, day: date, today: date) -> list[JsonObject]:
    """The cheapest fare on each of the seven days round ``day`` that are still to come."""
    first = max(day - timedelta(days=3), today)
    calendar = []
    for number in range(7):
        on = first + timedelta(days=number)
        prices = [fare(flight, on) for flight in flying(origin, destination, on)]
        if prices:
            calendar.append({"id": on.isoformat(), "date": on.isoformat(), "price": min(prices)})
    return calendar
