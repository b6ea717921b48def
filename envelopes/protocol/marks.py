"""Whether two logs have the same row of a number: a database that was restored goes on to number other rows so."""

from __future__ import annotations

from datetime import datetime


def mark_of(at: datetime) -> int:
    """The mark of a row that was written then: two rows have the same one once in a million."""
    return at.microsecond
