"""Reading a session's log."""

from __future__ import annotations

from envelopes.models.event import Event
from envelopes.protocol.rows import Row


def rows_after(session_pk: int, seq: int, *, upto: int | None = None) -> list[Row]:
    """The rows with a number above ``seq`` (and up to ``upto``), in order."""
    events = Event.objects.filter(session_id=session_pk, seq__gt=seq)
    if upto is not None:
        events = events.filter(seq__lte=upto)
    return [event.as_row() for event in events.order_by("seq")]
