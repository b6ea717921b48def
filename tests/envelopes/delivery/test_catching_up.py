"""What a reader is told that begins in the middle of a text."""

from __future__ import annotations

import pytest

from envelopes.delivery.catching_up import find
from envelopes.delivery.deltas import Delta, deltas
from tests import factories


@pytest.mark.django_db(transaction=True)
def test_where_text_stands_that_is_told_here_and_saved_nowhere_yet() -> None:
    """An actor that was asked runs a turn of its own, and what it says stands in that of its asker."""
    session = factories.make_session()
    asker = factories.make_turn(session)
    type(asker).objects.filter(pk=asker.pk).update(status="waiting", lease_owner="")
    factories.make_turn(session, text="Help")
    told = [Delta("L1-1-0-2-1-0-0-0-0", asker.number, "response", 0, "One moment")]
    writer = told.copy
    session.refresh_from_db()
    before = find(session, "panel", session.last_seq, set()).turns
    deltas.begin(session.pk, writer)
    try:
        after = find(session, "panel", session.last_seq, set()).turns
    finally:
        deltas.end(session.pk, writer)
    assert asker.number not in before
    assert after[asker.number].place
