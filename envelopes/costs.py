"""What replies of models take: tokens by kind, and what these cost at the prices of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envelopes.conf import conf

MILLION = 1_000_000


@dataclass(frozen=True)
class Taken:
    """Tokens of one reply or of several: read as they were sent, read from a cache, read and put into one, and
    written."""

    read: int = 0
    cached: int = 0
    kept: int = 0
    written: int = 0

    @property
    def came(self) -> int:
        """All that were read."""
        return self.read + self.cached + self.kept

    @property
    def total(self) -> int:
        return self.came + self.written


_KEYS = {
    "read": "input_tokens",
    "cached": "cache_read_input_tokens",
    "kept": "cache_creation_input_tokens",
    "written": "output_tokens",
}
"""Of ``Taken`` in ``usage``, which has the words of the Messages API."""


def taken(usage: object) -> Taken:
    """What ``usage`` of a reply says (``providers.port.ReplyEnded``), as far as it can be read."""
    given = usage if isinstance(usage, Mapping) else {}
    return Taken(**{name: _count(given.get(key)) for name, key in _KEYS.items()})


MOST = 10**12
"""Of what is beyond it nobody believes that it was counted, and no database could add it up."""


def _count(value: object) -> int:
    return value if is_count(value) and isinstance(value, int) else 0


def paid(value: object) -> float:
    """What ``cost`` of a reply says; 0 for what nothing can have cost."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value <= MOST else 0.0  # type: ignore[operator,arg-type]


def is_count(value: object) -> bool:
    """Whether it may be a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def counts_in(usage: object) -> dict[str, int]:
    """What of ``usage`` may be a number of tokens, by its name."""
    given = usage if isinstance(usage, Mapping) else {}
    return {str(name): count for name, count in given.items() if is_count(count)}


def cost_of(model: str, usage: object) -> float | None:
    """What a reply of ``model`` cost, in ``BEACH_CURRENCY``; None where there is no price for it.

    The price of a cached token is that of one that is read, where the settings have none for it.
    """
    prices = _prices(model)
    if prices is None:
        return None
    found = taken(usage)
    read = prices.get("input", 0.0)
    each = (
        (found.read, read),
        (found.cached, prices.get("cache_read", read)),
        (found.kept, prices.get("cache_write", read)),
        (found.written, prices.get("output", 0.0)),
    )
    return sum(count * price for count, price in each) / MILLION


def is_priced(model: str) -> bool:
    """Whether the settings have a price for ``model``."""
    return _prices(model) is not None


def _prices(model: str) -> Mapping[str, float] | None:
    """Those of the model, or of the longest name that its own begins with: ``claude-haiku-4-5`` has those of
    ``claude-haiku-4-5-20251001`` as well."""
    known = conf.BEACH_PRICES
    named = max((name for name in known if model.startswith(name)), key=len, default=None)
    return None if named is None else known[named]


def money(amount: float) -> str:
    """``amount`` for people: ``0.0042 USD``, ``12.50 USD``."""
    digits = 2 if amount >= 1 or amount == 0 else 4
    return f"{amount:,.{digits}f} {conf.BEACH_CURRENCY}"


def with_cost(tokens: str, cost: Any) -> str:
    """``tokens`` in words with what they cost behind, where that is known."""
    return f"{tokens} ({money(spent)})" if (spent := paid(cost)) else tokens
