"""A long conversation as it would be stored, with a card to use at its beginning."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from envelopes.access import Principal
from envelopes.models import Event, Session
from envelopes.testing import create_session
from tests.long.replay import CATALOG, _surface, rows

CARD = [
    {"id": "root", "component": "Column", "children": ["f", "t", "b"]},
    {"id": "f", "component": "TextField", "label": "Note", "value": {"path": "/n"}},
    {"id": "t", "component": "Text", "text": {"path": "/n"}},
    {"id": "b", "component": "Button", "child": "bt", "action": {"event": {"name": "go"}}},
    {"id": "bt", "component": "Text", "text": "Go"},
]
OPENING: list[tuple[str, dict[str, Any], str]] = [
    ("message", {"text": "The Needle, in the hay", "name": "Ada", "id": "first"}, ""),
    ("turn", {"status": "queued", "number": 1}, ""),
    ("turn", {"status": "running", "number": 1}, ""),
    _surface("first", "createSurface", catalogId=CATALOG),
    _surface("first", "updateComponents", components=CARD),
    _surface("first", "updateDataModel", path="/n", value="before"),
    ("settled", {"turnState": "complete", "finalizedBy": "complete"}, ""),
]


def talk_at_length(session: Session, count: int) -> None:
    """Give ``session``, which is empty, the opening and ``count`` rows of turns after it; the last turn is over."""
    told = [(kind, data, part_type, 0 if kind == "message" else 1) for kind, data, part_type in OPENING]
    for row in rows(count):
        turn = row.turn + 1 if row.turn else 0
        data = {**row.data, "number": turn} if "number" in row.data else row.data
        told.append((row.kind, data, row.part_type, turn))
    last = max(turn for *_, turn in told)
    told.append(("settled", {"turnState": "complete", "finalizedBy": "complete"}, "", last))
    now = timezone.now()
    Event.objects.bulk_create(
        Event(
            session=session,
            seq=seq,
            kind=kind,
            part_type=part_type,
            audience="delivered",
            actor=session.actor,
            turn=turn,
            data=data,
            at=now,
        )
        for seq, (kind, data, part_type, turn) in enumerate(told, 1)
    )
    session.title, session.last_seq, session.turn_count = "The Needle, in the hay", len(told), last
    session.save()


def for_user(name: str, count: int) -> str:
    """A long conversation of the user of this name with the demo's agent. Returns its public id."""
    session = create_session(Principal(user=User.objects.get(username=name), name=name), "sally")
    talk_at_length(session, count)
    return session.public_id
