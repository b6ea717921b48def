"""Short tokens for DOM ids: of list keys, positions and counters. Only `[A-Za-z0-9_-]` (decisions D28, D40).

Different values get different tokens: short names and integers as they are, anything else by a 64-bit digest.
Each kind has its own first letter, and only digests, whose length is fixed, may contain `-`; so tokens joined
by `-` can be told apart.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from a2ui.safety.text import number_text

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_PAIRS: list[str] = [high + low for high in _DIGITS for low in _DIGITS]
_SHORT: list[str] = [*_DIGITS, *_PAIRS[36:]]
_PLAIN_CHARS = 20
_CACHED_CHARS = 64
_KEPT_NUMBERS = 32_000
_OBJECTS = {dict}
_SCALARS = frozenset({str, int, float})


def key_token(value: str | float | bool | None) -> str:
    """The token of a list key: `k` + text, `n` + digits (`m` for negative ones), `h` + digest."""
    if isinstance(value, str) and len(value) > _CACHED_CHARS:
        return _digest("s:" + value)
    return _key_token(value)


@lru_cache(maxsize=65_536, typed=True)
def _key_token(value: str | float | bool | None) -> str:
    if isinstance(value, str):
        if len(value) <= _PLAIN_CHARS and value.isascii() and value.replace("_", "0").isalnum():
            return "k" + value
        return _digest("s:" + value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1.0 and 1 are the same number in JSON
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_PLAIN_CHARS:
        return f"n{value}" if value >= 0 else f"m{-value}"
    return _digest(f"v:{value!r}" if value is None or isinstance(value, bool) else f"f:{number_text(value)}")


def index_token(index: int) -> str:
    """The token of a position, for lists without keys."""
    return "i" + base36(index)


def base36(value: int) -> str:
    """A counter (>= 0) in base 36."""
    if value < 1296:
        return _SHORT[value]
    high = value // 1296
    return (_SHORT[high] if high < 1296 else base36(high)) + _PAIRS[value % 1296]


@lru_cache(maxsize=32)
def _numbers(thousands: int) -> tuple[str, ...]:
    return tuple([base36(value) for value in range(1000 * thousands)])


def base36_counters(count: int) -> Sequence[str]:
    """The first so many counters, or some more. Kept, since every surface has the same; not those of surfaces whose
    agent went through very many names, which would stay for good."""
    make = _numbers if count < _KEPT_NUMBERS else _numbers.__wrapped__
    return make(count // 1000 + 1)


def item_keys(items: list[Any]) -> list[str] | None:
    """The key tokens of a list, None if its items have no identity (D28).

    They have one when every item is an object and the members `key`, or else `id`, are text or numbers and all
    different.
    """
    if not items or set(map(type, items)) != _OBJECTS:
        return None
    return _tokens(items, "key") or _tokens(items, "id")


def _tokens(items: list[dict[str, Any]], name: str) -> list[str] | None:
    values = [item.get(name) for item in items]
    if not _SCALARS.issuperset(map(type, values)):
        return None
    tokens = list(map(key_token, values))
    return tokens if len(set(tokens)) == len(tokens) else None


def _digest(text: str) -> str:
    data = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return "h" + urlsafe_b64encode(data).decode()[:11]
