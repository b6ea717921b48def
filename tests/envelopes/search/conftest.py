"""Fixtures of the search: on both databases where a test asks for ``alias``."""

from __future__ import annotations

from datetime import timedelta

import pytest

from envelopes.models import Session
from envelopes.search import behind
from tests import factories
from tests.envelopes.log.conftest import alias

__all__ = ["alias"]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for turns of these tests to end, nor for conversations to rest."""
    monkeypatch.setattr(behind, "ANSWERED_WITHIN", timedelta(0))
    monkeypatch.setattr(behind, "RESTS", timedelta(0))


@pytest.fixture
def booking() -> Session:
    """A conversation in which everything occurs once, and one that has nothing of it."""
    ada = factories.make_user("ada")
    ada.email, ada.last_name = "ada@example.org", "Lovelace"
    ada.save()
    session = factories.make_session(ada, title="Corfu in August")
    turn = factories.make_turn(session, text="Is a refund possible?")
    factories.add_part(turn, "response", text="Not for **this** fare.")
    data = {
        "bookings": [{"reference": "BCH-7KD20", "passengers": [{"name": "Byron, Annabella"}], "paid": True}]
    }
    factories.add_part(turn, "domain-data", data=data, dataKind="bookings")
    factories.add_part(turn, "ack", text="Momentito")
    factories.add_part(turn, "reasoning-trace", data={"text": "Skulduggery", "model": "m"}, audience="audit")
    factories.add_row(turn, "note", {"note": "Whispered"})
    factories.add_row(
        turn,
        "action",
        {
            "action": {
                "name": "book",
                "context": {"traveller": "Grace Höpper", "card": {"$secret": "tok3n"}},
            },
            "owner": "billing",
            "target": "x",
            "label": "Book",
        },
    )
    surface = {
        "createSurface": {"surfaceId": "s"},
        "updateDataModel": {"surfaceId": "s", "value": {"gate": "B42"}},
    }
    factories.add_part(turn, "a2ui-surface", data=surface)
    factories.make_approvals(turn, {"order": "ORD-99", "amount": 12.5})
    factories.make_turn(factories.make_session(title="Porto"), text="Where is my train?")
    return session
