"""Places that people name and this demo has not got, so that they can be told instead of asked again."""

from __future__ import annotations

import re
from datetime import date

from beachsite.demo import catalogue
from beachsite.demo.script.slots import read_slots

_END = r"(?=\s+(?:for|on|from|to|in|at|with|under|below|up|tomorrow|today|next|this|please|like)\b|[?.!,;]|$)"
_PLACE = r"([a-z][a-z'\u2019 -]{1,40}?)"
_AFTER = re.compile(
    rf"\b(?:in|into|at|near|about|research|guide to|what is|things to do in)\s+{_PLACE}{_END}"
)
# "To" comes before verbs as well, so it takes a word of travelling before it, or a capital letter after it.
_FLY = re.compile(rf"\b(?:fly|flights?|flying|travel|get)\b(?: me| us)?\s+(?:to|from)\s+{_PLACE}{_END}")
_CAPITAL = re.compile(r"\b(?:[Tt]o|[Ff]rom)\s+([A-Z][\w'\u2019-]+(?:\s+[A-Z][\w'\u2019-]+)*)")
_BARE = re.compile(r"[A-Za-z][A-Za-z'\u2019-]{0,40}(?:\s+[A-Za-z'\u2019-]{1,41}){0,2}")
_NO_PLACES = {
    "a", "an", "any", "anything", "anywhere", "are", "cheap", "city", "destination", "for", "good", "he", "how",
    "i", "it", "know", "me", "more", "my", "nice", "no", "nothing", "of", "ok", "okay", "one", "place",
    "please", "she", "some", "something", "somewhere", "sorry", "sure", "thank", "thanks", "that", "the", "there",
    "they", "this", "us", "warm", "we", "week", "weekend", "weeks", "month", "months", "day", "days", "what",
    "when", "where", "which", "who", "why", "yes", "you", "your",
}  # fmt: skip


def unknown_place(words: str, *, flight: bool = False, answer: bool = False) -> str:
    """The name of a place in the sentence that is not in the demo; empty when there is none.

    ``flight``: only where it is flown to or from. ``answer``: a sentence that is nothing but a name is one.
    """
    lower = words.lower()
    patterns = (_FLY.finditer(lower), _CAPITAL.finditer(words)) if flight else (_AFTER.finditer(lower),)
    names = [found[1] for pattern in patterns for found in pattern]
    if answer and (bare := _BARE.fullmatch(words.strip(" .!?"))):
        names.append(bare[0])
    for name in names:
        if not _NO_PLACES & set(name.lower().split()) and not _understood(name):
            return " ".join(word[:1].upper() + word[1:] for word in name.split())
    return ""


def _understood(name: str) -> bool:
    known = read_slots(name, date(2000, 1, 1), "destination")
    return known.says_something or any(
        catalogue.folded(name) in (catalogue.folded(place.name), catalogue.folded(place.country))
        for place in catalogue.destinations().values()
    )
