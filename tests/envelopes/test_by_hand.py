"""Statements that are written by hand store what Django's own would, and read it back the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from envelopes.models import Turn, by_hand
from envelopes.registries.statuses import TurnStatus
from tests import factories

pytestmark = pytest.mark.django_db

VALUES: dict[str, Any] = {
    "number": 7,
    "actor": "sally",
    "status": TurnStatus.WAITING,
    "turn_state": "",
    "trigger": {"kind": "message", "text": "Ä \U0001f3d6 \u2028", "n": 1.5},
    "trigger_seq": 2**40,
    "messages": [{"role": "user", "content": []}],
    "live": {},
    "correction": 'It\'s "this" %s',
    "cancel_requested": True,
    "attempt": 3,
    "lease_until": datetime(2026, 8, 15, 12, 30, 0, 123456, UTC),
    "settled_at": None,
}


def _values(turn: Turn) -> dict[str, Any]:
    return {field.attname: getattr(turn, field.attname) for field in Turn._meta.concrete_fields}


def test_a_row_that_is_stored_by_hand_is_read_by_the_orm_and_by_hand_alike() -> None:
    turn = Turn(session=factories.make_session(), **VALUES)
    by_hand.insert(turn)
    assert _values(Turn.objects.get(pk=turn.pk)) == _values(turn)

    changed = {"status": TurnStatus.SETTLED, "messages": [], "attempt": 4, "model": "m", "lease_until": None}
    for name, value in changed.items():
        setattr(turn, name, value)
    assert by_hand.update(turn, list(changed), {"number": 7})
    assert not by_hand.update(turn, ["actor"], {"number": 8})
    assert _values(Turn.objects.get(pk=turn.pk)) == _values(turn)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {by_hand.columns(Turn)} FROM envelopes_turn WHERE id = %s", [turn.pk])  # noqa: S608 - names of ours
        assert _values(by_hand.made(Turn, cursor.fetchone())) == _values(turn)


def test_rows_that_are_stored_together_leave_those_that_are_there_as_they_are() -> None:
    session = factories.make_session()
    first, again, other = (
        Turn(session=session, **{**VALUES, "number": number, "actor": actor})
        for number, actor in ((1, "first"), (1, "again"), (2, "other"))
    )
    by_hand.insert(first)
    by_hand.insert_all([again, other])
    by_hand.insert_all([])

    stored = list(Turn.objects.filter(session=session).order_by("number"))
    assert [(turn.number, turn.actor) for turn in stored] == [(1, "first"), (2, "other")]
    assert {**_values(stored[1]), "id": None} == _values(other)


def test_a_row_that_is_stored_by_hand_has_what_it_asks_back_as_the_database_has_it() -> None:
    """PostgreSQL keeps neither the order of keys nor how a number is written."""
    sent = {"zulu": 1e2, "b": [{"year": 1, "a": 2.50}]}
    turn = Turn(session=factories.make_session(), **{**VALUES, "trigger": sent})
    by_hand.insert(turn, back=("trigger", "number"))

    assert json.dumps(turn.trigger) == json.dumps(Turn.objects.get(pk=turn.pk).trigger)
    assert (turn.trigger, turn.number) == (sent, 7) and turn.trigger is not sent
    assert not turn._state.adding


@pytest.mark.parametrize(
    ("name", "value"),
    [*VALUES.items(), ("number", 0), ("actor", ""), ("cancel_requested", False), ("status", "queued")],
)
def test_a_value_is_given_to_the_database_as_django_would(name: str, value: Any) -> None:
    field = Turn._meta.get_field(name)
    (column,) = by_hand._given([field], connection.vendor)
    given = by_hand._stored(column, Turn(**{name: value}), connection, add=False)
    expected = field.get_db_prep_save(value, connection)
    assert (type(given), str(given)) == (type(expected), str(expected))
