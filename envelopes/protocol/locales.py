"""Locales by the names that browsers and programs give."""

from __future__ import annotations

import re

_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")

LONGEST_TAG = 35
"""What RFC 5646 (4.4.1) recommends to have room for."""


def is_language_tag(text: str) -> bool:
    """Whether it is well formed (BCP 47). Not every one is a language that anybody here knows; then the nearest is
    taken that is."""
    return len(text) <= LONGEST_TAG and _TAG.fullmatch(text) is not None
