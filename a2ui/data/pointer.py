"""JSON Pointers in the two flavours that the protocol uses, and reading through them.

A2UI paths (rulebook 6.1) are lenient: the leading slash is optional, empty segments vanish, `""` and `"/"` are
the whole model. Patches use RFC 6901 as it stands, where `"/"` is the member with the empty name. Inside the
engine both are `Tokens`, so nothing else ever handles pointer text.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from a2ui.data.values import FORBIDDEN, JSON, pointer_text
from a2ui.errors import PointerError
from a2ui.safety.text import clean_string

Tokens: TypeAlias = tuple[str, ...]

_MAX_INDEX_DIGITS = 15
"""Longer indices cannot exist; int() on thousands of digits is refused by Python and slow before that."""

_SMALL: Final = {str(index): index for index in range(1000)}
"""Most list indices there are: looking one up is quicker than reading its digits."""

_CACHED_CHARS = 256


class Absent(Enum):
    """The type of `ABSENT`, the answer of a read that finds nothing. It is falsy and unlike a stored null."""

    ABSENT = "ABSENT"

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


def parse(path: str) -> Tokens:
    """The segments of an A2UI path (rulebook 6.1), without regard to a leading slash.

    Raises PointerError for a `~` that is no escape and for the segments `__proto__`, `prototype`, `constructor`.
    """
    return _parse_cached(path) if len(path) <= _CACHED_CHARS else _parse(path)


def parse_scoped(path: str) -> tuple[Tokens, bool]:
    """A binding path as (tokens, absolute) (rulebook 7.4): with a leading slash it starts at the root, else at
    the scope; `""` and `"."` are the scope itself. Raises PointerError like `parse`."""
    return ((), False) if path == "." else (parse(path), path.startswith("/"))


def parse_rfc6901(path: str) -> Tokens:
    """The tokens of an RFC 6901 pointer, empty ones included. Raises PointerError if it is malformed."""
    return _strict_cached(path) if len(path) <= _CACHED_CHARS else _strict(path)


def _parse(path: str) -> Tokens:
    # As the names in a data model: what UTF-8 cannot carry is in none of them.
    path = clean_string(path)
    tokens = [segment for segment in path.split("/") if segment]
    if "~" in path:
        tokens = [_unescape(token, path) for token in tokens]
    if not FORBIDDEN.isdisjoint(tokens):
        raise PointerError(
            "The path uses a reserved name.", path=path, reserved=sorted(FORBIDDEN & set(tokens))
        )
    return tuple(tokens)


def _strict(path: str) -> Tokens:
    if not path:
        return ()
    if path[0] != "/":
        raise PointerError('A JSON Pointer is empty or starts with "/".', path=path)
    path = clean_string(path)
    tokens = path[1:].split("/")
    if "~" in path:
        tokens = [_unescape(token, path) for token in tokens]
    return tuple(tokens)


_parse_cached = lru_cache(maxsize=8192)(_parse)
_strict_cached = lru_cache(maxsize=8192)(_strict)


def _unescape(token: str, path: str) -> str:
    head, *rest = token.split("~")
    for part in rest:
        # Splitting at "~" and looking at the next character decodes in one pass: "~01" is "~1", not "/".
        if part[:1] == "0":
            head += "~" + part[1:]
        elif part[:1] == "1":
            head += "/" + part[1:]
        else:
            raise PointerError('"~" must be followed by 0 or 1.', path=path)
    return head


def format(tokens: Iterable[str]) -> str:  # noqa: A001 - always used as pointer.format
    """RFC 6901 text of the tokens: `()` is `""`. The inverse of `parse_rfc6901`."""
    return pointer_text(tokens)


def is_index(token: str) -> bool:
    """Whether the token is a list index: `0`, or ASCII digits without a leading zero."""
    return token.isascii() and token.isdigit() and (token[0] != "0" or len(token) == 1)


def to_index(token: str) -> int | None:
    """The list index, None if the token is none or too long to be one of a list in memory."""
    index = _SMALL.get(token)
    if index is None and is_index(token) and len(token) <= _MAX_INDEX_DIGITS:
        return int(token)
    return index


def read(value: JSON, tokens: Tokens) -> JSON | Absent:
    """The value at the tokens, or ABSENT: missing member, bad index, or a step through a scalar (rulebook 6.2)."""
    for token in tokens:
        if isinstance(value, dict):
            if token not in value:
                return ABSENT
            value = value[token]
        elif isinstance(value, list):
            index = to_index(token)
            if index is None or index >= len(value):
                return ABSENT
            value = value[index]
        else:
            return ABSENT
    return value
