"""The strict parse of JSON text that a model or a peer wrote, and pointers and refusals that explain what is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from envelopes.errors import ValidationFailed
from envelopes.protocol.json_scan import JsonProblem, JsonScanner, Path, Reason, Silent
from envelopes.protocol.text import MAX_DEPTH, clean_text
from envelopes.types import Json

MAX_BYTES = 1024 * 1024
"""The largest input of anyone who is not trusted (D30); 4 MiB is for in-process actors."""

INPUT_DEPTH = MAX_DEPTH + 2
"""Containers inside each other in a tool input: what a part may hold, in the list of parts, in the input."""

_SENTENCES: dict[Reason, str] = {
    "malformed": "This is not JSON",
    "truncated": "The JSON text ends too early",
    "duplicate_key": "A key stands twice in one object",
    "not_a_number": "NaN, Infinity and numbers beyond all bounds are not JSON",
    "too_deep": "This is nested deeper than {depth} levels",
}
_INEXACT = "A number has more digits than are kept: write fewer, or send it as text if the schema allows"


def parse_strict(text: str, *, limit: int = MAX_BYTES, depth: int = INPUT_DEPTH, exact: bool = False) -> Json:
    """The value of one JSON text. ``exact``: numbers that a double would round are refused (``inexact_number``).

    Raises ``ValidationFailed`` with ``path`` (JSON Pointer to where reading stopped) and ``reason``: ``too_large``
    (``limit``: UTF-8 bytes), ``too_deep``, ``duplicate_key``, ``not_a_number``, ``truncated``, ``malformed``.
    Lone surrogates pass, as in ``json.loads``: ``clean_json`` replaces them.
    """
    if len(text) > limit or len(text.encode("utf-8", "surrogatepass")) > limit:
        raise ValidationFailed(
            f"This is larger than {limit} bytes.", path="", reason="too_large", limit=limit
        )
    text = join_surrogates(text)
    number = _as_written if exact else _finite
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=number)
    except (ValueError, RecursionError):
        _explain(text, depth)
    if _too_deep(value, depth):
        _explain(text, depth)
    return value


_SURROGATE = re.compile("[\ud800-\udfff]")


def join_surrogates(text: str) -> str:
    """``text`` with two halves of a surrogate pair as the one character that they are; lone halves stay."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def pointer(path: Iterable[str | int]) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise ValueError(number)
    return value


def _as_written(number: str) -> float:
    value = _finite(number)
    if _is_rounded(number):
        raise ValueError(number)
    return value


def _is_rounded(number: str) -> bool:
    """Whether a double, written out again, is another number than the one that was written."""
    try:
        return Decimal(number) != Decimal(repr(float(number)))
    except InvalidOperation:
        # An exponent that not even a decimal holds.
        return True


class _Rounded(Silent):
    """Finds the first number that a double rounds."""

    path: tuple[str | int, ...] | None = None

    def scalar(self, path: Path, value: Json) -> None:
        if self.path is None and isinstance(value, str) and not value.lstrip("-").isdigit():
            self.path = tuple(path) if _is_rounded(value) else None


def _too_deep(value: Json, depth: int) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(depth):
        if not level:
            return False
        level = [
            inner
            for container in level
            for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, (dict, list))
        ]
    return bool(level)


def _explain(text: str, depth: int) -> NoReturn:
    """Raise what is wrong with ``text``, which has been refused already."""
    rounded = _Rounded()
    scanner = JsonScanner(rounded, max_depth=depth)
    scanner.feed(text)
    found, reason = scanner.finish(), "inexact_number"
    if found is not None or rounded.path is None:
        # Refused by the parser alone: an integer with more digits than Python converts.
        problem = found or JsonProblem("malformed", ())
        path, reason = problem.path, str(problem.reason)
        sentence = _SENTENCES[problem.reason].format(depth=depth)
    else:
        path, sentence = rounded.path, _INEXACT
    # A key is told back in the refusal, which has to be sent and stored: nothing that cannot be.
    where = clean_text(pointer(path))
    raise ValidationFailed(f"{sentence} (at {where or '/'}).", path=where, reason=reason)
