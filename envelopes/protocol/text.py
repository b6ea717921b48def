"""Text that can be stored and sent: what JSON lets through and UTF-8, PostgreSQL or a terminal do not."""

from __future__ import annotations

import math
import re

from envelopes.errors import ValidationFailed
from envelopes.types import Json

_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
MAX_DEPTH = 64
_MAX_INT = 10**4300
"""Python neither writes nor reads integers of more digits as text, and so no JSON with one in it."""


def clean_text(text: str) -> str:
    """``text`` with NUL, control characters (but tab, LF, CR) and lone surrogates as U+FFFD."""
    return _UNSAFE.sub("\ufffd", text) if _UNSAFE.search(text) else text


def clip(text: str, length: int) -> str:
    """``text`` with at most ``length`` characters; one that is cut ends in an ellipsis, so that it shows (R6)."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def clean_json(value: Json, *, depth: int = MAX_DEPTH) -> Json:
    """A copy of ``value`` with every text and key cleaned.

    Keys that become the same stay apart: the later one gets a further U+FFFD. Raises ``ValidationFailed`` when it is
    nested deeper than ``depth`` or holds a number that JSON cannot carry.
    """
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) >= _MAX_INT:
            raise ValidationFailed("Numbers beyond all bounds are not JSON.")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValidationFailed("NaN and Infinity are not JSON.")
        return value
    if depth <= 0:
        raise ValidationFailed(f"This is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, dict):
        cleaned: dict[str, Json] = {}
        for key, item in value.items():
            name = clean_text(str(key))
            while name in cleaned:
                name += "\ufffd"
            cleaned[name] = clean_json(item, depth=depth - 1)
        return cleaned
    if isinstance(value, (list, tuple)):
        return [clean_json(item, depth=depth - 1) for item in value]
    raise ValidationFailed(f"{type(value).__name__} is not a JSON type.")
