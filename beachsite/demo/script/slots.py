"""What a sentence says about a flight: places, day, people, and limits."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Literal

from beachsite.demo.catalogue import Airport, airports, folded
from beachsite.demo.fares import TimeOfDay
from beachsite.demo.script.dates import NUMBERS, find_day
from beachsite.demo.script.people import COUNT, travellers

Place = Literal["origin", "destination"]

_PRICE = re.compile(
    r"\b(?:under|below|up to|at most|less than|max(?:imum)?(?: of)?)\s*[£€$]?\s*(\d+(?:\.\d+)?)"
)
_FROM = re.compile(r"\b(from|leaving|out of)$")
_TO = re.compile(r"\b(to|in|into|visit|about)$")
# Before a place: nothing, or words of which it is known that they say nothing of the way there.
_BEFORE = re.compile(
    r"(?:^|[^\w\s]|\b(?:and|or|for|maybe|instead|then|rather|no|not|yes|ok|okay|sorry|please|now|try|prefer|mean|meant|a|the"
    r"|flights?|fly))$"
)
_NIGHTS = re.compile(rf"\b{COUNT}\s+nights?\b")


@dataclass(frozen=True)
class Slots:
    """What is known of a wish. ``origin`` and ``destination`` are airport codes, or a city with several airports."""

    origin: str = ""
    destination: str = ""
    day: date | None = None
    passengers: int = 0
    max_price: float | None = None
    direct_only: bool = False
    time_of_day: TimeOfDay = "any"

    def then(self, later: Slots) -> Slots:
        """These, with whatever ``later`` says instead."""
        said = {f.name: getattr(later, f.name) for f in fields(later) if getattr(later, f.name) != f.default}
        return replace(self, **said)

    @property
    def says_something(self) -> bool:
        return self != Slots()


@dataclass(frozen=True)
class _Mention:
    start: int
    end: int
    place: str


def read_slots(text: str, today: date, asked: Place | None = None) -> Slots:
    """The slots in one sentence. ``asked``: a bare place answers this question."""
    lower = folded(text)
    origin, destination = _places(lower, asked)
    hours: TimeOfDay = "any"
    for name in ("morning", "afternoon", "evening"):
        if re.search(rf"\b{name}s?\b", lower):
            hours = name
    price = _PRICE.search(lower)
    return Slots(
        origin=origin,
        destination=destination,
        day=find_day(text, today),
        passengers=travellers(text),
        max_price=float(price[1]) if price else None,
        direct_only=bool(re.search(r"\b(direct|non-?stop)\b", lower)),
        time_of_day=hours,
    )


def is_guess(text: str) -> bool:
    """Whether it can only be guessed which way the places in a sentence go: there are two of them without a word
    between that says so, or one stands behind a word that is not known here, as in another language."""
    lower = folded(text)
    bare = [
        before
        for mention in _mentions(lower)
        if not _FROM.search(before := lower[: mention.start].rstrip())
        and not _TO.search(before)
        and not lower[mention.end :].lstrip().startswith("to ")
    ]
    return len(bare) > 1 or any(not _BEFORE.search(before) for before in bare)


def nights(text: str) -> int:
    """How many nights the sentence names, or 0."""
    found = _NIGHTS.search(folded(text))
    if found is None:
        return 0
    number = int(found[1][:9]) if found[1].isdigit() else NUMBERS[found[1]]
    return number if 1 <= number <= 28 else 0


def city_airports(place: str) -> list[Airport]:
    """The airports of a city that has more than one; empty for anything else."""
    found = [airport for airport in airports().values() if folded(airport.city) == folded(place)]
    return found if len(found) > 1 else []


def _names() -> list[tuple[str, str]]:
    """Every way to name a place, longest first, so that "London Gatwick" is not read as "London"."""
    names = [(folded(alias), airport.code) for airport in airports().values() for alias in airport.aliases]
    names += [(folded(a.city), a.city) for a in airports().values() if city_airports(a.city)]
    names.append(("atlantis", "Atlantis"))
    return sorted(set(names), key=lambda pair: -len(pair[0]))


def _mentions(lower: str) -> list[_Mention]:
    found: list[_Mention] = []
    for name, place in _names():
        for match in re.finditer(rf"\b{re.escape(name)}\b", lower):
            if not any(other.start < match.end() and match.start() < other.end for other in found):
                found.append(_Mention(match.start(), match.end(), place))
    return sorted(found, key=lambda mention: mention.start)


def _places(lower: str, asked: Place | None) -> tuple[str, str]:
    origin = destination = ""
    bare: list[_Mention] = []
    for mention in _mentions(lower):
        before, after = lower[: mention.start].rstrip(), lower[mention.end :].lstrip()
        if _FROM.search(before):
            origin = origin or mention.place
        elif _TO.search(before):
            destination = destination or mention.place
        elif after.startswith("to ") and not origin:
            origin = mention.place
        else:
            bare.append(mention)
    if len(bare) > 1 and not (asked or origin or destination):
        # "Flights Gatwick Corfu": as routes are written.
        return bare[0].place, bare[1].place
    for mention in bare:
        if asked == "origin" and not origin:
            origin = mention.place
        elif not destination:
            destination = mention.place
        elif not origin:
            origin = mention.place
    return origin, destination
