"""Rows that are read as they are asked for are those that one statement would give."""

from __future__ import annotations

import pytest

from envelopes.log import read
from envelopes.log.append import writing
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("count", [0, 4, 5, 6, 10, 11])
def test_rows_of_some_kinds_come_in_order_however_many_are_read_at_once(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(read, "_SOME", read._SOME.replace(f"LIMIT {read.AT_ONCE}", "LIMIT 5"))
    monkeypatch.setattr(read, "AT_ONCE", 5)
    session, other = factories.make_session(), factories.make_session()
    for here in (session, other):
        with writing(here.pk) as writer:
            for number in range(count):
                writer.add("message", {"text": f"{number}"})
                writer.add("note")
    whole = read.rows_after(session.pk, 0)
    told = [row for row in whole if row.kind == "message" and row.audience == "delivered"]
    last = whole[-1].seq if whole else 0

    assert list(read.delivered_rows(session.pk, 0, last, ["message"])) == told
    assert list(read.delivered_rows(session.pk, 2, last - 2, ["message", "action"])) == [
        row for row in told if 2 < row.seq <= last - 2
    ]
