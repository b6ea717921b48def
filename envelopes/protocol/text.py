"""Text that can be stored and sent: what JSON lets through and UTF-8, PostgreSQL or a terminal do not."""

from __future__ import annotations

import math
import re

import regex  # type: ignore[import-untyped]  # has \X and \p{...}, which re lacks; only fixed patterns here

from envelopes.errors import ValidationFailed
from envelopes.types import Json

UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""One character that is not stored as it is; see ``clean_text``."""

_BLANK = regex.compile(r"[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]*")
_CLUSTER = regex.compile(r"\X")
MAX_DEPTH = 64
_MAX_INT = 10**4300
"""Python neither writes nor reads integers of more digits as text, and so no JSON with one in it."""


def clean_text(text: str) -> str:
    """``text`` with NUL, control characters (but tab, LF, CR) and lone surrogates as U+FFFD."""
    return UNSAFE.sub("\ufffd", text) if UNSAFE.search(text) else text


def is_blank(text: str) -> bool:
    """Whether nothing of ``text`` can be seen: it holds blanks, controls and invisible characters only."""
    return _BLANK.fullmatch(text) is not None


def clip(text: str, length: int) -> str:
    """``text`` with at most ``length`` characters; one that is cut ends in an ellipsis, so that it shows (R6).

    What a person sees as one character (an extended grapheme cluster, UAX #29) is kept whole or left out.
    """
    return text if len(text) <= length else f"{_whole(text, length - 1)}…"


def shorten(text: str, length: int) -> str:
    """``text`` on one line, clipped to ``length`` characters, between words if there is a place near."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    kept = _whole(line, length - 1)
    space = kept.rfind(" ")
    return (kept[:space] if space > length * 2 // 3 else kept).rstrip(" ,;:.") + "…"


def _whole(text: str, length: int) -> str:
    """The clusters that fit into the first ``length`` characters of a longer text; one that is longer is cut."""
    # One character more than fits tells whether a cluster ends where the room does.
    ends = (found.end() for found in _CLUSTER.finditer(text[: length + 1]))
    return text[: max((end for end in ends if end <= length), default=0) or length]


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
