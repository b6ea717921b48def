"""Days as people write them: "15 August", "2026-08-15", "next Friday", "tomorrow", "in two weeks"."""

from __future__ import annotations

import re
from datetime import date, timedelta

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {word: number for number, word in enumerate(_COUNTED, 1)} | {"a": 1}

_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:,?\s+(\d{4}))?"
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?\s+{_MONTH}\b{_YEAR}", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b{_YEAR}", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.IGNORECASE)
_PAST = re.compile(
    r"\byesterday\b|\blast (?:night|week|month|year|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_IN = re.compile(r"\bin (\d+|[a-z]+) (day|week)s?\b", re.IGNORECASE)


def find_day(text: str, today: date) -> date | None:
    """The first day that the text names, or None. A day without a year is the next one to come."""
    for found in (_explicit(text, today), _relative(text, today), _weekday(text, today)):
        if found is not None:
            return found
    return None


def _explicit(text: str, today: date) -> date | None:
    if found := _ISO.search(text):
        return _date(int(found[1]), int(found[2]), int(found[3]))
    if found := _DAY_MONTH.search(text):
        return _coming(int(found[1]), found[2], found[3], today)
    if found := _MONTH_DAY.search(text):
        return _coming(int(found[2]), found[1], found[3], today)
    return None


def _relative(text: str, today: date) -> date | None:
    lower = text.lower()
    if "day after tomorrow" in lower:
        return today + timedelta(days=2)
    if re.search(r"\btomorrow\b", lower):
        return today + timedelta(days=1)
    if re.search(r"\b(today|tonight)\b", lower):
        return today
    if found := _IN.search(lower):
        count = int(found[1]) if found[1].isdigit() else NUMBERS.get(found[1], 0)
        if 0 < count <= 400:
            return today + timedelta(days=count * (7 if found[2] == "week" else 1))
    if re.search(r"\bweekend\b", lower):
        return today + timedelta(days=(5 - today.weekday()) % 7 or 7)
    if re.search(r"\bnext week\b", lower):
        return today + timedelta(days=7)
    return None


def _weekday(text: str, today: date) -> date | None:
    found = _WEEKDAY.search(text)
    if found is None:
        return None
    wanted = next(number for number, name in enumerate(_DAYS) if name.startswith(found[1].lower()[:3]))
    return today + timedelta(days=(wanted - today.weekday()) % 7 or 7)


def _coming(day: int, month_name: str, year: str | None, today: date) -> date | None:
    month = next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(month_name.lower()[:3]))
    if year:
        return _date(int(year), month, day)
    # Up to eight years for 29 February.
    for ahead in range(9):
        found = _date(today.year + ahead, month, day)
        if found is not None and found >= today:
            return found
    return None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def no_day(text: str, today: date) -> str:
    """Why the day that the text names cannot be travelled on; empty when it can, or when there is none."""
    if found := _PAST.search(text):
        return f"{found[0].capitalize()} is in the past."
    named = _ISO.search(text) or _DAY_MONTH.search(text) or _MONTH_DAY.search(text)
    if named is None:
        return ""
    day = find_day(text, today)
    if day is None:
        return f"There is no {named[0].strip()} in the calendar."
    return f"{say_day(day, today)} is in the past." if day < today else ""


def say_day(day: date, today: date) -> str:
    """ "Saturday 15 August", with the year where it is not the obvious one."""
    named = f"{day:%A} {day.day} {day:%B}"
    return named if abs((day - today).days) < 180 else f"{named} {day.year}"
