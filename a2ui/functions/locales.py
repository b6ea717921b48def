"""Locales by tag, with English for what is unknown (rulebook 21, row 37)."""

from __future__ import annotations

from functools import lru_cache

from babel import Locale, UnknownLocaleError

FALLBACK = "en_US"
_MAX_CHARS = 64


@lru_cache(maxsize=256)
def find_locale(tag: str) -> Locale:
    """The Babel locale of a BCP 47 tag (`pl-PL`; `pl_PL` too): the nearest known one, else American English."""
    parts = tag.replace("_", "-").split("-") if len(tag) <= _MAX_CHARS else []
    while parts:
        try:
            return Locale.parse("-".join(parts), sep="-")
        except (UnknownLocaleError, ValueError):
            parts.pop()
    return Locale.parse(FALLBACK)


@lru_cache(maxsize=256)
def is_right_to_left(tag: str) -> bool:
    """Whether the locale of a tag is written from right to left."""
    return find_locale(tag).text_direction == "rtl"
