"""What a sentence wants, by its words: enough for a script that says of itself that it is one."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from beachsite.demo.catalogue import folded

Intent = Literal["book", "hotels", "research", "search", "bookings", "thanks", "hello", "help", "unclear"]

_PATTERNS: tuple[tuple[Intent, str], ...] = (
    ("search", r"\batlantis\b"),
    ("hotels", r"\b(hotels?|rooms?|(place|somewhere) to (stay|sleep))\b"),
    ("bookings", r"\b(did|have) (i|we) (book|buy|reserve)|\b(my|our) bookings?\b|\bcancel\b"),
    ("book", r"\b(book|buy|reserve)\b"),
    (
        "research",
        r"\b(research|tell me about|find out about|look into|guide to|things to do|what is .+ like)\b",
    ),
    ("search", r"\b(fly|flying|flights?|plane|get me to|travel)\b|\bfrom .+ to \b"),
    ("thanks", r"\b(thanks|thank you|cheers|great|perfect)\b"),
    ("hello", r"^(hi|hello|hey|good (morning|afternoon|evening))\b"),
    ("help", r"\b(help|what can you do|who are you|are you (real|human|a bot))\b|^\?+$"),
)


def foreign(text: str) -> bool:
    """Whether none of the patterns fits, and some of it is written in other letters than English is."""
    letters = (char for char in text if unicodedata.category(char) in ("Lu", "Ll", "Lo"))
    return of(text) == "unclear" and any(
        not unicodedata.name(char, "").startswith("LATIN") for char in letters
    )


def of(text: str) -> Intent:
    """The first of the patterns that fits."""
    lower = folded(text)
    for intent, pattern in _PATTERNS:
        if re.search(pattern, lower):
            return intent
    return "unclear"
