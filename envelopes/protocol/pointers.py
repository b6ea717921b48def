"""JSON Pointers (RFC 6901) into data that somebody sent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from envelopes.types import Json

LONGEST = 1_024
"""Characters of a pointer."""

_FORM = re.compile(r"(?:/(?:[^/~]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,14}")


class Nothing:
    """The type of ``NOTHING``, which is unlike a null that is there."""


NOTHING: Final = Nothing()


def tokens(pointer: str) -> tuple[str, ...] | None:
    """The steps of ``pointer``, none for the whole document; None for what is no pointer."""
    if len(pointer) > LONGEST or not _FORM.fullmatch(pointer):
        return None
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def at(document: Json, steps: Iterable[str]) -> Json | Nothing:
    """The value where ``steps`` lead; ``NOTHING`` where they lead nowhere."""
    value = document
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return NOTHING
    return value
