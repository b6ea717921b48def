"""Streamed bubbles by their names: ``L<turn>-<attempt>-<step>-<failure>-<block>-<part>``."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Final

SURFACE_PREVIEW: Final = "beach:surface-preview"
"""In place of a part type: what streams is an interface that is being written (D65), a line of JSON for each message
and ``null`` for its end."""

ENDED: Final = (sys.maxsize,)
"""Beyond every ``place_of``: where a turn has ended, the text of all of its bubbles is over."""


@lru_cache(1024)
def place_of(live: str) -> tuple[int, ...]:
    """Where a bubble stands in its turn, by its name: attempt, step, failure, block, part, and before that where the
    actor that says it was asked (``Turn.place``). Later ones are greater."""
    try:
        return tuple(int(number) for number in live.split("-")[1:])
    except ValueError:
        return ()
