from __future__ import annotations

from datetime import date

import pytest

from beachsite.demo.script import intents
from beachsite.demo.script.slots import Slots, nights, read_slots

TODAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    ("words", "origin", "destination"),
    [
        ("from London Gatwick to Corfu", "LGW", "CFU"),
        ("to Corfu from Gatwick", "LGW", "CFU"),
        ("Lisbon to Copenhagen", "LIS", "CPH"),
        ("fly to Porto", "", "OPO"),
        ("leaving Heathrow", "LHR", ""),
        ("from London to Madeira", "London", "FNC"),
        ("flights Corfu", "", "CFU"),
        ("flights Gatwick Corfu", "LGW", "CFU"),
        ("Fly me to Atlantis", "", "Atlantis"),
        ("somewhere nice", "", ""),
    ],
)
def test_places(words: str, origin: str, destination: str) -> None:
    said = read_slots(words, TODAY)

    assert (said.origin, said.destination) == (origin, destination)


def test_a_bare_place_answers_the_question() -> None:
    assert read_slots("London Gatwick", TODAY, "origin").origin == "LGW"
    assert read_slots("London Gatwick", TODAY, "destination").destination == "LGW"


@pytest.mark.parametrize(
    ("words", "people"),
    [
        ("for 2", 2),
        ("for two", 2),
        ("3 adults", 3),
        ("2 tickets", 2),
        ("for 3 nights", 0),
        ("15 August", 0),
        ("for 40", 0),
        ("for 12 people", 0),
        ("we are three", 3),
        ("we're a party of four", 4),
        ("just me", 1),
        ("for 10 nights", 0),
    ],
)
def test_people(words: str, people: int) -> None:
    assert read_slots(words, TODAY).passengers == people


def test_limits() -> None:
    said = read_slots("a direct flight in the morning, under £120", TODAY)

    assert (said.max_price, said.direct_only, said.time_of_day) == (120, True, "morning")


def test_nights() -> None:
    assert nights("for 3 nights") == 3
    assert nights("four nights") == 4
    assert nights("tonight") == 0


def test_later_words_win_and_silence_keeps() -> None:
    known = Slots("LGW", "CFU", date(2027, 8, 15), 2).then(read_slots("on 16 August", TODAY))

    assert known == Slots("LGW", "CFU", date(2027, 8, 16), 2)


@pytest.mark.parametrize(
    ("words", "intent"),
    [
        ("Find flights from London Gatwick to Corfu", "search"),
        ("I'd like to fly somewhere on Friday", "search"),
        ("Book the easyJet one for Ada", "book"),
        ("Find hotels in Lisbon for 3 nights", "hotels"),
        ("Research Corfu for me", "research"),
        ("What is Porto like?", "research"),
        ("thanks!", "thanks"),
        ("Hello", "hello"),
        ("help", "help"),
        ("Lisbon", "unclear"),
        ("", "unclear"),
    ],
)
def test_intents(words: str, intent: str) -> None:
    assert intents.of(words) == intent
