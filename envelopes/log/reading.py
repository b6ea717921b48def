"""What a row's text is when it is read back: rows that are handed over must equal those that others read."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.types import Json, JsonObject


def reader_for(alias: str = DEFAULT_DB_ALIAS) -> Callable[[str], JsonObject]:
    """Makes of the text of a row (``NewRow.text``) what a JSONField gives back for it."""
    return _as_jsonb if connections[alias].vendor == "postgresql" else json.loads


def _as_jsonb(text: str) -> JsonObject:
    """``jsonb`` sorts the keys of objects, shorter ones first, and writes numbers without exponents."""
    read: JsonObject = json.loads(text, object_pairs_hook=_sorted, parse_float=_number)
    return read


def _sorted(pairs: list[tuple[str, Json]]) -> JsonObject:
    return dict(sorted(pairs, key=_rank)) if len(pairs) > 1 else dict(pairs)


def _rank(pair: tuple[str, Json]) -> tuple[int, bytes]:
    key = pair[0].encode()
    return len(key), key


def _number(text: str) -> float:
    if "e" in text:
        number = Decimal(text)
        if number == number.to_integral_value():
            # What is written without an exponent and without a fraction is read as an integer.
            return int(number)
    # A numeric zero has no sign.
    return float(text) + 0.0
