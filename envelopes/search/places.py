"""The order of conversations as one number each: when something was last said, and which of those of one moment."""

from __future__ import annotations

from datetime import UTC, datetime

_BITS = 20
"""For which of those of one millisecond it is."""


def place_of(at: datetime, session_pk: int) -> int:
    """The place of a conversation in which something was last said at ``at`` (aware)."""
    return (int(at.timestamp() * 1000) << _BITS) + (session_pk & ((1 << _BITS) - 1))


def first_place(at: datetime) -> int:
    """The lowest place of the moment ``at``: what is below was said before it."""
    return int(at.timestamp() * 1000) << _BITS


def moment_of(place: int) -> datetime:
    """When something was last said there, UTC, to the millisecond."""
    return datetime.fromtimestamp((place >> _BITS) / 1000, UTC)
