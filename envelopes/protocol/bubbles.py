"""Streamed bubbles by their names: ``L<turn>-<attempt>-<step>-<failure>-<block>-<part>``."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(1024)
def place_of(live: str) -> tuple[int, ...]:
    """Where a bubble stands in its turn, by its name: attempt, step, failure, block, part, and before that where the
    actor that says it was asked (``Turn.place``). Later ones are greater."""
    try:
        return tuple(int(number) for number in live.split("-")[1:])
    except ValueError:
        return ()
