"""The demo's small world, read once from the JSON files beside this module."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent / "data"


@dataclass(frozen=True)
class Airport:
    """``city`` groups airports: "London" means either of two."""

    code: str
    name: str
    city: str
    time_zone: str
    currency: str
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class Airline:
    code: str
    name: str
    baggage: str
    picture: str


@dataclass(frozen=True)
class Flight:
    """One line of the timetable. ``days``: ISO weekdays it flies on. ``price``: what it costs in a plain month, per
    person, in the currency of where it starts. ``price_on``: fixed fares by ``MM-DD``."""

    number: str
    origin: str
    destination: str
    departs: str
    minutes: int
    days: frozenset[int]
    price: int
    via: str
    price_on: dict[str, int]

    @property
    def airline(self) -> Airline:
        return airlines()[self.number[:2]]

    @property
    def title(self) -> str:
        return f"{self.airline.name} {self.number}"


@dataclass(frozen=True)
class Hotel:
    id: str
    name: str
    destination: str
    area: str
    stars: int
    price: int
    currency: str
    score: float
    rooms: int
    blurb: str
    extras: tuple[str, ...]
    free_cancellation_days: int
    picture: str


@dataclass(frozen=True)
class Source:
    """Where the facts of one section of a destination come from."""

    section: str
    title: str
    url: str
    quote: str


@dataclass(frozen=True)
class Destination:
    """What the research tool can find out. The sections hold plain JSON: they travel to surfaces as they are."""

    name: str
    country: str
    lead: str
    picture: str
    page: str
    weather: dict[str, Any]
    sights: list[dict[str, Any]]
    food: list[dict[str, Any]]
    around: list[dict[str, Any]]
    budget: list[dict[str, Any]]
    sources: tuple[Source, ...]


def _read(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return loaded


@cache
def airlines() -> dict[str, Airline]:
    """By two-letter code."""
    return {row["code"]: Airline(**row) for row in _read("airlines.json")}


@cache
def airports() -> dict[str, Airport]:
    """By three-letter code."""
    return {
        row["code"]: Airport(
            row["code"], row["name"], row["city"], row["timeZone"], row["currency"], tuple(row["aliases"])
        )
        for row in _read("airports.json")
    }


@cache
def timetable() -> dict[str, Flight]:
    """By flight number."""
    return {
        row["number"]: Flight(
            number=row["number"],
            origin=row["origin"],
            destination=row["destination"],
            departs=row["departs"],
            minutes=row["minutes"],
            days=frozenset(int(day) for day in row["days"]),
            price=row["price"],
            via=row.get("via", ""),
            price_on=row.get("priceOn", {}),
        )
        for row in _read("flights.json")
    }


@cache
def hotels() -> tuple[Hotel, ...]:
    return tuple(
        Hotel(
            **{k: v for k, v in row.items() if k not in ("extras", "freeCancellationDays")},
            extras=tuple(row["extras"]),
            free_cancellation_days=row["freeCancellationDays"],
        )
        for row in _read("hotels.json")
    )


@cache
def destinations() -> dict[str, Destination]:
    """By name, lower case."""
    return {
        row["name"].lower(): Destination(**row | {"sources": tuple(Source(**s) for s in row["sources"])})
        for row in _read("destinations.json")
    }


def folded(text: str) -> str:
    """Lower case without accents, so that "Kobenhavn" and "København" meet."""
    plain = unicodedata.normalize("NFKD", text.replace("ø", "o").replace("Ø", "O"))
    return "".join(char for char in plain if not unicodedata.combining(char)).casefold().strip()


def find_airport(text: str) -> Airport | None:
    """The one airport that a name, a code or a nickname means; None when there is none or more than one."""
    wanted = folded(text).removesuffix(" airport")
    for airport in airports().values():
        if wanted in {folded(alias) for alias in airport.aliases}:
            return airport
    return None


def find_flight(text: str) -> Flight | None:
    """A flight by its number, however it is spaced, with or without the airline's name before it."""
    wanted = folded(text).replace(" ", "")
    for flight in timetable().values():
        if wanted in (folded(flight.number).replace(" ", ""), folded(flight.title).replace(" ", "")):
            return flight
    return None


def find_destination(text: str) -> Destination | None:
    """A destination by its own name or by that of its airport or island."""
    wanted = folded(text)
    for destination in destinations().values():
        if folded(destination.name) == wanted:
            return destination
    airport = find_airport(text)
    return destinations().get(airport.name.lower()) if airport else None
