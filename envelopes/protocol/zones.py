"""Time zones by the names that browsers and sessions give."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def known_zone(name: str) -> ZoneInfo | None:
    """The zone with this IANA name; None for one that this machine does not know."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def zone_of(name: str) -> ZoneInfo:
    """The zone with this IANA name, else UTC, since a page has to be shown all the same."""
    return known_zone(name) or ZoneInfo("UTC")
