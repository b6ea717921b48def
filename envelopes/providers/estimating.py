"""How many tokens something is, where nobody counts: by its bytes of UTF-8, as it would be sent."""

from __future__ import annotations

import json
from typing import Any

import orjson

BYTES = 3.5
"""Of one token: English words have four or five, JSON about three, and a letter of Chinese or Greek is two or three
bytes and about one token."""


def tokens_of(*values: Any) -> int:
    """Tokens of JSON values, roughly: wrong by up to a third either way (``runtime.fitting.NEAR``)."""
    return sum(tokens_in(_size(value)) for value in values)


def _size(value: Any) -> int:
    try:
        return len(orjson.dumps(value))
    except TypeError:
        # A whole number beyond 64 bits, or half of a surrogate pair: a model may have written either.
        return len(json.dumps(value))


def tokens_in(size: int) -> int:
    """Tokens of ``size`` bytes."""
    return int(size / BYTES) + 1
