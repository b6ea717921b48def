"""Storing the rows of an open append, inside of Django's transaction and without its compiler."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.log.new_row import NewRow

AT_ONCE = 100
"""Rows in one statement: nine values each, and databases take some thousands."""

_INSERT = (
    "INSERT INTO envelopes_event (session_id, seq, kind, part_type, audience, actor, turn, data, at) VALUES "
)
_ROW = "(%s, %s, %s, %s, %s, %s, %s, %s, %s)"


def store_rows(session_pk: int, first: int, new: Sequence[NewRow], at: datetime) -> None:
    """Store ``new`` under the numbers from ``first`` on, all at ``at``."""
    connection = connections[DEFAULT_DB_ALIAS]
    time = connection.ops.adapt_datetimefield_value(at)
    with connection.cursor() as cursor:
        for begin in range(0, len(new), AT_ONCE):
            some = new[begin : begin + AT_ONCE]
            values: list[Any] = []
            for seq, row in enumerate(some, first + begin):
                values += (
                    session_pk, seq, row.kind, row.part_type, row.audience, row.actor, row.turn, row.text, time,
                )  # fmt: skip
            cursor.execute(_INSERT + ", ".join([_ROW] * len(some)), values)
