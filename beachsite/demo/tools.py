"""Looking things up: flights and hotels. Neither changes anything, so neither asks anyone."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

from django.templatetags.static import static
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from beachsite.demo import catalogue, fares, rules
from beachsite.demo.errors import BadDate, NoRoute, SystemDown, UnknownPlace
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import JsonObject

SUNKEN = "atlantis"
"""A destination whose airline never answers: the way to see a tool fail."""


class SearchFlights(BaseModel):
    model_config = ConfigDict(extra="forbid")

    origin: str = Field(description="Airport to leave from: name or code, such as 'London Gatwick' or 'LGW'.")
    destination: str = Field(description="Airport or place to fly to.")
    date: date
    passengers: int = Field(default=1, ge=1, le=rules.MOST_PASSENGERS, description="A whole number.")
    max_price: float | None = Field(default=None, gt=0, description="Maximum price per person.")
    direct_only: bool = False
    time_of_day: Literal["any", "morning", "afternoon", "evening"] = "any"


class SearchHotels(BaseModel):
    model_config = ConfigDict(extra="forbid")

    destination: str
    check_in: date
    nights: int = Field(default=3, ge=1, le=28)
    guests: int = Field(default=2, ge=1, le=6)
    max_price: float | None = Field(default=None, gt=0, description="Maximum price per night.")


class Hotel(BaseModel):
    id: str
    name: str
    area: str
    stars: int
    score: float
    blurb: str
    extras: str
    cancellation: str
    picture: str
    pricePerNight: int
    totalPrice: int
    currency: str


class Hotels(BaseModel):
    """What the hotel cards are made of."""

    destination: str
    checkIn: date
    checkOut: date
    nights: int
    guests: int
    hotels: list[Hotel]


async def search_flights(context: ToolContext, args: SearchFlights) -> JsonObject:
    """The flights of one day that fit, the cheapest fares round it, and what was asked for."""
    if SUNKEN in catalogue.folded(args.destination):
        raise SystemDown("Atlantis Air’s booking system is not answering. Nothing was searched or booked.")
    origin, destination = _airport(args.origin), _airport(args.destination)
    if not fares.serves(origin.code, destination.code):
        raise NoRoute(
            f"Nobody flies from {origin.name} to {destination.name}. {rules.route_unknown(origin)}",
            origin=origin.name,
            destination=destination.name,
        )
    today = timezone.localdate()
    _bookable(args.date, today)
    wish = fares.Wish(
        origin.code,
        destination.code,
        args.date,
        args.passengers,
        args.max_price,
        args.direct_only,
        args.time_of_day,
    )
    return {
        "route": {
            "origin": origin.name,
            "originCode": origin.code,
            "destination": destination.name,
            "destinationCode": destination.code,
        },
        "date": args.date.isoformat(),
        "passengers": args.passengers,
        "currency": origin.currency,
        "filters": {
            "maxPrice": args.max_price,
            "directOnly": args.direct_only,
            "timeOfDay": args.time_of_day,
        },
        "flights": fares.find_offers(wish),
        "flightsThatDay": len(fares.flying(origin.code, destination.code, args.date)),
        "lowestByDay": fares.lowest_by_day(origin.code, destination.code, args.date, today),
    }


async def search_hotels(context: ToolContext, args: SearchHotels) -> JsonObject:
    """Hotels at a destination, best first, with the price of the whole stay."""
    destination = catalogue.find_destination(args.destination)
    if destination is None:
        known = rules.listed([place.name for place in catalogue.destinations().values()], "and")
        raise UnknownPlace(f"This demo has no hotels in {args.destination}. It has hotels in {known}.")
    _bookable(args.check_in, timezone.localdate())
    found = [
        {
            "id": hotel.id,
            "name": hotel.name,
            "area": hotel.area,
            "stars": hotel.stars,
            "score": hotel.score,
            "blurb": hotel.blurb,
            "extras": ", ".join(hotel.extras).capitalize(),
            "cancellation": f"Free cancellation until {hotel.free_cancellation_days} days before",
            "picture": static(hotel.picture),
            "pricePerNight": hotel.price,
            "totalPrice": hotel.price * args.nights,
            "currency": hotel.currency,
        }
        for hotel in catalogue.hotels()
        if hotel.destination == destination.name and (args.max_price is None or hotel.price <= args.max_price)
    ]
    return {
        "destination": destination.name,
        "checkIn": args.check_in.isoformat(),
        "checkOut": (args.check_in + timedelta(days=args.nights)).isoformat(),
        "nights": args.nights,
        "guests": args.guests,
        "hotels": sorted(found, key=lambda hotel: -float(str(hotel["score"]))),
    }


def _airport(text: str) -> catalogue.Airport:
    found = catalogue.find_airport(text)
    if found is None:
        raise UnknownPlace(f"This demo has no airport called “{text}”. {rules.airport_unknown()}", place=text)
    return found


def _bookable(day: date, today: date) -> None:
    if problem := rules.day_problem(day, today):
        raise BadDate(problem, date=day.isoformat())


SEARCH_FLIGHTS = Tool(
    name="search_flights",
    description="Find flights on one day. Prices are per person, in the currency of the country of departure.",
    input=SearchFlights,
    run=search_flights,
    label="Searching flights",
    data_kind="flight-results",
)
CHECK_FARE = Tool(
    name="check_fare",
    description="The same as search_flights, for what you want to know yourself: nothing of it is shown to anybody.",
    input=SearchFlights,
    run=search_flights,
    label="Checking the fare",
)
SEARCH_HOTELS = Tool(
    name="search_hotels",
    description="Find hotels at a destination for a number of nights.",
    input=SearchHotels,
    run=search_hotels,
    output=Hotels,
    label="Looking for hotels",
    data_kind="hotel-results",
)
