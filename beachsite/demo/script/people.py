"""Who travels: names, addresses, and how many there are."""

from __future__ import annotations

import re

from beachsite.demo import catalogue
from beachsite.demo.script.dates import NUMBERS

MOST = 9
"""How many tickets one booking holds."""

COUNT = r"(\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_PEOPLE = re.compile(
    rf"\b{COUNT}\s+(?:people|persons?|passengers?|adults?|travell?ers?|tickets?|seats?|guests?|of us)\b"
    rf"|\b(?:we are|we're|we will be|party of|group of)\s+{COUNT}\b(?!\s*(?:nights?|days?|weeks?))"
)
_FOR = re.compile(rf"\bfor {COUNT}\b(?!\s*(?:nights?|days?|weeks?|pounds|euros|gbp|eur))")
_ALONE = re.compile(r"\b(?:just|only) me\b|\bi am alone\b|\bi'm alone\b|\bby myself\b|\bon my own\b")
_NAME = re.compile(r"\b(?:for|name is|name of)\s+((?:[A-Z][\w'\u2019.-]*)(?:\s+[A-Z][\w'\u2019.-]*)*)")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def said(words: str) -> int:
    """How many people the sentence names, however many; 0 when it names none."""
    lower = catalogue.folded(words).replace("\u2019", "'")
    found = _PEOPLE.search(lower) or _FOR.search(lower)
    if found is None:
        return 1 if _ALONE.search(lower) else 0
    number = next(group for group in found.groups() if group)
    # Nobody brings more digits than that, and Python counts them slowly.
    return int(number[:9]) if number.isdigit() else NUMBERS[number]


def travellers(words: str) -> int:
    """As many as one booking holds, else 0."""
    number = said(words)
    return number if number <= MOST else 0


def person(words: str) -> str:
    """A name after "for", unless it is a place or a month."""
    for found in _NAME.finditer(words):
        name = found[1].strip(" .,")
        if catalogue.find_airport(name) is None and len(name) > 1:
            return name
    return ""


def mail(words: str) -> str:
    """An email address, or nothing."""
    found = _MAIL.search(words)
    return found[0] if found else ""
