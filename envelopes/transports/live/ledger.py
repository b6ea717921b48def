"""The ledger of a session: what has happened in it, told by the log's own numbers (reading, 1.6 and 3.2)."""

from __future__ import annotations

from envelopes.log.numbering import delivered
from envelopes.log.read import rows_after
from envelopes.models import Event, Session
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.rows import Row
from envelopes.protocol.time import instant
from envelopes.transports.live.errors import LiveError
from envelopes.transports.live.presenter.deliveries import NAME
from envelopes.types import JsonObject

PAGE = 100
"""Events that are read at once."""

FOR_STAFF = ("problem", "llmContext")
"""What the row of an end says to nobody else: why it failed, and what became of the second model's text."""


def check(since: int, upto: int) -> None:
    """Raises ``LiveError`` REPLAY_HORIZON_PASSED beyond the end of the log; nothing of it goes before its session
    does."""
    if since > upto:
        details = {"currentSequence": upto}
        raise LiveError("REPLAY_HORIZON_PASSED", "The ledger does not go so far.", details=details)


def page_after(
    session: Session, since: int, upto: int, wants: frozenset[str]
) -> tuple[list[JsonObject], int]:
    """One page of what a view wants of the events after ``since``, and the number to go on after. In a thread."""
    numbers = Event.objects.filter(session=session, seq__gt=since, seq__lte=upto).order_by("seq")
    last = list(numbers.values_list("seq", flat=True)[:PAGE])
    if not last:
        return [], upto
    rows = rows_after(session.pk, since, upto=last[-1])
    return [told for row in rows if (told := event(row, wants)) is not None], last[-1]


def event(row: Row, wants: frozenset[str]) -> JsonObject | None:
    """The event that a row is; None for one that the view does not have."""
    if not any(one.kind in wants for one in delivered(NAME, row)):
        return None
    data = {key: value for key, value in row.data.items() if key not in FOR_STAFF}
    return {"seq": row.seq, "type": _type(row), "timestamp": instant(row.at), "data": data}


def _type(row: Row) -> str:
    match row.kind:
        case "action" | "edit":
            return "user.submitted"
        case "tool":
            return "tool.called"
        case "part" if row.part_type == A2UI_SURFACE.name:
            return "ui.updated"
        case _:
            return f"x-beach.{row.kind}"
