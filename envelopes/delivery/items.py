"""What a follower hands on, and what it asks of its door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from envelopes.delivery.streamed import PlacedDelta
from envelopes.session_state import Frame


@dataclass(frozen=True, slots=True)
class UpToDate:
    """The reader has every row up to ``seq``. ``busy``: an agent is at work, or will be without anybody's doing.
    ``mark``: that of row ``seq`` (``protocol.marks``), where the reader had it before; None where it does not
    matter."""

    seq: int
    busy: bool
    mark: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a door made of the session at row ``seq``, which is the last one that the reader has."""

    seq: int
    busy: bool
    made: Any


Item = Frame | PlacedDelta | UpToDate
Check = Callable[[], Awaitable[None]]
AtOnce = Callable[[Frame | PlacedDelta], bool]
"""Sends an item in the call, behind everything that was handed on before. False where that cannot be done now: then
nothing was done."""
