"""What a search or a passenger has to be, said once: the tools refuse with these sentences, the forms refuse first."""

from __future__ import annotations

from datetime import date, timedelta

from beachsite.demo import catalogue, fares

MOST_PASSENGERS = 9
"""How many tickets one booking holds."""

HORIZON = 370
"""How many days ahead seats are on sale: more than a year, so that every day and month has a next one."""

NAME_LENGTH = 120
EMAIL_LENGTH = 254

DAY_MISSING = "Choose a day."
DAY_PAST = "Choose today or a later date."
PASSENGERS = f"Enter a whole number from 1 to {MOST_PASSENGERS}."
NAME = "Enter the passenger’s full name."
EMAIL = "Enter a valid email address."

WHOLE_PASSENGERS = f"^[1-{MOST_PASSENGERS}]$"
FULL_NAME = r"\S.*\S"
"""Patterns for the forms; a name is at least two characters long, and blanks round it do not count."""


def last_day(today: date) -> date:
    """The last day that is on sale."""
    return today + timedelta(days=HORIZON)


def day_too_far(today: date) -> str:
    last = last_day(today)
    return f"Choose {last.day} {last:%B %Y} or an earlier date: seats go on sale {HORIZON} days ahead."


def day_problem(day: date, today: date) -> str:
    """Why nothing can be had on that day; empty when something can."""
    if day < today:
        return DAY_PAST
    return day_too_far(today) if day > last_day(today) else ""


def airport_unknown() -> str:
    return f"Choose one of {listed([airport.name for airport in catalogue.airports().values()], 'or')}."


def route_unknown(origin: catalogue.Airport) -> str:
    there = fares.routes_from(origin.code)
    if not there:
        return f"There are no flights from {origin.name}. Choose another airport."
    return f"From {origin.name} you can fly to {listed(there, 'or')}."


def listed(names: list[str], last: str) -> str:
    """ "Corfu, Lisbon or Porto"."""
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""
