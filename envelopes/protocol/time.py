"""Moments on the wire."""

from __future__ import annotations

from datetime import UTC, datetime


def instant(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and Z. ``moment`` is aware."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant_at(seconds: float) -> str:
    """The same of ``seconds`` since 1970."""
    return instant(datetime.fromtimestamp(seconds, UTC))
