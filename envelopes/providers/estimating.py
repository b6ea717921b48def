"""How many tokens something is, where nobody counts: by its bytes of UTF-8, as it would be sent."""

from __future__ import annotations

from typing import Any

import orjson

BYTES = 3.5
"""Of one token: English words have four or five, JSON about three, and a letter of Chinese or Greek is two or three
bytes and about one token."""


def tokens_of(*values: Any) -> int:
    """Tokens of JSON values, roughly, and rather too many than too few."""
    return sum(tokens_in(len(orjson.dumps(value))) for value in values)


def tokens_in(size: int) -> int:
    """Tokens of ``size`` bytes."""
    return int(size / BYTES) + 1
