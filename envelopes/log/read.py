"""Reading a session's log: by hand, since whoever shows it anew reads all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.models import by_hand
from envelopes.models.event import Event
from envelopes.protocol.rows import Row

_FIELDS = ("seq", "kind", "part_type", "audience", "actor", "turn", "data", "at")
"""In the order in which the model has them."""

AT_ONCE = 100
"""So many rows are read in one go where little of them is kept: a process that has had much at once never gives all of
that memory back."""

_AFTER = f"""
SELECT {by_hand.columns(Event, _FIELDS)} FROM envelopes_event
WHERE session_id = %s AND seq > %s{{bound}} ORDER BY seq"""  # noqa: S608 - names of ours


def rows_after(session_pk: int, seq: int, *, upto: int | None = None) -> list[Row]:
    """The rows with a number above ``seq`` (and up to ``upto``), in order."""
    asked: list[Any] = [session_pk, seq]
    text = _AFTER.format(bound="")
    if upto is not None:
        text = _AFTER.format(bound=" AND seq <= %s")
        asked.append(upto)
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(text, asked)
        return [_row(*by_hand.values(Event, found, _FIELDS)) for found in cursor.fetchall()]


_SOME = f"""
SELECT {by_hand.columns(Event, _FIELDS)} FROM envelopes_event
WHERE session_id = %s AND seq > %s AND seq <= %s AND audience = 'delivered' AND kind IN ({{kinds}})
ORDER BY seq LIMIT {AT_ONCE}"""  # noqa: S608 - names and a number of ours


def delivered_rows(session_pk: int, after: int, upto: int, kinds: Sequence[str]) -> Iterator[Row]:
    """The rows of these kinds that may leave the server, with numbers above ``after`` and up to ``upto``, in order.
    They are read as they are asked for, `AT_ONCE` at a time, and decoded one by one."""
    text = _SOME.format(kinds=", ".join(["%s"] * len(kinds)))
    while True:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(text, [session_pk, after, upto, *kinds])
            found = cursor.fetchall()
        for each in found:
            row = _row(*by_hand.values(Event, each, _FIELDS))
            after = row.seq
            yield row
        if len(found) < AT_ONCE:
            return


def _row(
    seq: int, kind: str, part_type: str, audience: str, actor: str, turn: int, data: Any, at: Any
) -> Row:
    return Row(seq, kind, at, data, part_type, actor, turn, "audit" if audience == "audit" else "delivered")
