"""Conversions between JSON types (rulebook 7.2, 9.2, 9.3)."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

# JavaScript's decimal notation. Hexadecimal, digit groups, other scripts' digits and "NaN" are no numbers.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_CHARS = 400
_INTEGER_CHARS = 300
_MAX_INTEGER = 2**1024
"""Integers from here on have no double."""


def to_number(value: Any) -> int | float | None:
    """The number of a value: numbers, true as 1, false as 0, numeric text with blanks around; else None.

    Whole numbers in text become int. What a double cannot hold (`1e999`) is no number.
    """
    kind = type(value)
    if kind is int:
        return int(value)
    if kind is float:
        return float(value) if math.isfinite(value) else None
    if kind is bool:
        return 1 if value else 0
    if kind is not str or len(value) > _MAX_CHARS:
        return None
    text = value.strip()
    if not _NUMBER.fullmatch(text):
        return None
    if len(text) <= _INTEGER_CHARS and text.lstrip("+-").isdigit():
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


def to_decimal(value: Any) -> Decimal | None:
    """Like `to_number`, as the decimal notation that the number is written in: 1.005 is 1.005. None for integers that
    no double can hold."""
    kind = type(value)
    if kind is float:
        return Decimal(repr(value)) if math.isfinite(value) else None
    if kind is int:
        return Decimal(value) if -_MAX_INTEGER < value < _MAX_INTEGER else None
    number = to_number(value)
    if number is None:
        return None
    return Decimal(value.strip()) if isinstance(value, str) else Decimal(number)


def truthy(value: Any) -> bool:
    """JavaScript truthiness of a JSON value: false for None, absent, false, 0, NaN and `""` only."""
    if value is None or value is False or value == "":
        return False
    if isinstance(value, int | float):
        return value != 0 and value == value  # noqa: PLR0124 - NaN
    return isinstance(value, dict | list) or bool(value)


def to_boolean(value: Any) -> bool:
    """The boolean property of a value (7.2): text counts by its word, numbers unless 0, nothing is false."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        # By its length first: the text may be megabytes, and every box of a list asks.
        return len(value) == len("true") and value.lower() == "true"
    return truthy(value)
