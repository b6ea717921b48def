"""Prepared queries find what the ORM's own do."""

from __future__ import annotations

import pytest

from envelopes.access import NOBODY, Principal, get_session, new_anonymous_owner, visible_sessions
from envelopes.errors import NotFound
from envelopes.models import Session
from envelopes.prepared import Prepared
from envelopes.testing import create_session

pytestmark = pytest.mark.django_db


def test_a_session_is_found_by_whose_it_is(django_user_model: type) -> None:
    ann = Principal(user=django_user_model.objects.create_user("ann"))  # type: ignore[attr-defined]
    guest, other = new_anonymous_owner()[0], new_anonymous_owner()[0]
    for who in (ann, guest):
        session = create_session(who, "travel")
        # Twice: compiled, and known.
        for _ in range(2):
            found = get_session(who, session.public_id)
            expected = visible_sessions(who, session.public_id).get()
            fields = [field.attname for field in Session._meta.concrete_fields]
            assert {name: getattr(found, name) for name in fields} == {
                name: getattr(expected, name) for name in fields
            }
            assert not found._state.adding
        for stranger in (other, NOBODY, guest if who is ann else ann):
            with pytest.raises(NotFound):
                get_session(stranger, session.public_id)


def test_a_value_that_is_not_in_the_statement_is_refused() -> None:
    prepared = Prepared(lambda title, _other: Session.objects.filter(title=title), "a title", "nowhere")
    with pytest.raises(ValueError, match="does not stand"):
        prepared.first("x", "y")


def test_values_take_the_places_of_examples() -> None:
    session = Session.objects.create(actor="travel", title="Corfu", last_seq=7)
    prepared = Prepared(
        lambda title, seq: Session.objects.filter(last_seq=seq, title=title).values_list("pk", "title"),
        "an example",
        2**53,
    )
    assert prepared.first("Corfu", 7) == (session.pk, "Corfu")
    assert prepared.first("Corfu", 8) is None
