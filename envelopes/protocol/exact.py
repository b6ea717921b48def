"""JSON that is kept as it is, or not at all: what a tool is asked with, a person reads and the tool gets (D64).

What a database, a digest or a page cannot hold is refused with a pointer to it. Characters that are merely hard to see
pass: they are shown by name where a person decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from envelopes.errors import ValidationFailed
from envelopes.protocol.strict_json import pointer
from envelopes.protocol.text import UNSAFE, clean_text
from envelopes.protocol.unseen import name_of
from envelopes.types import Json

MAX_INTEGER = 2**53 - 1
"""Beyond it RFC 8785 cannot tell neighbours apart, and PostgreSQL gives back an integer for a float."""


def check_exact(value: Json) -> None:
    """Raises ``ValidationFailed`` with ``path`` (JSON Pointer) and ``reason`` (``character``, ``number``) for the first
    text, key or number of ``value`` that would not come back as it is."""
    for path, leaf in _leaves(value, ()):
        if isinstance(leaf, str):
            found = UNSAFE.search(leaf)
            if found is not None:
                _refuse(path, f"holds {_named(found[0])}, which cannot be kept or shown", "character")
        elif isinstance(leaf, float) and not isfinite(leaf):
            # No JSON has it, but a model of a tool's input makes it of texts such as "1e400".
            _refuse(path, "holds NaN or Infinity, which JSON does not carry", "number")
        elif not isinstance(leaf, bool) and isinstance(leaf, (int, float)) and _is_large(leaf):
            _refuse(path, "holds a whole number beyond 2^53, which JSON does not carry exactly", "number")


def _leaves(value: Json, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Everything in ``value`` that holds nothing else, keys included, in order."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key), key
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


def _is_large(number: float) -> bool:
    return abs(number) > MAX_INTEGER and number == int(number)


def _named(character: str) -> str:
    code, name = f"U+{ord(character):04X}", name_of(character)
    return name if name.endswith(code) else f"{code} ({name})"


def _refuse(path: tuple[str | int, ...], what: str, reason: str) -> None:
    where = clean_text(pointer(path))
    raise ValidationFailed(f"The value at {where or '/'} {what}.", path=where, reason=reason)
