"""A conversation is found by what was said in it, by what it is called, by whose it is, and by how it stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from beachsite.suite import ROOT
from envelopes import search
from envelopes.conf import conf
from envelopes.log.append import writing
from envelopes.models import (
    Artifact,
    Session,
    ToolCall,
)
from envelopes.search import (
    Filters,
    folding,
    listing,
    marking,
    query,
    read_query,
    said,
)
from envelopes.search.states import State
from tests import factories
from tests.envelopes.search.searching import facts, follow, found

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_once")]


@pytest.mark.parametrize(
    "words",
    [
        "refund",
        "POSSIBLE REF",
        "fare",
        "corfu",
        "ada@example.org",
        "lovelace",
        "bch-7kd20",
        "7kd",
        "byron annabella",
        "hopper",
        "Höpper",
        "b42",
        "ord-99",
        "Pay back order",
    ],
)
def test_it_is_found_by_what_was_said_and_filled_in_and_by_whose_it_is(booking: Session, words: str) -> None:
    assert found(words) == [booking.pk]


@pytest.mark.parametrize(
    "words", ["skulduggery", "whispered", "tok3n", "secret", "momentito", "refund train", "efund"]
)
def test_it_is_not_found_by_what_staff_do_not_see_or_nobody_said(booking: Session, words: str) -> None:
    assert found(words) == []


def test_it_is_found_by_each_id_that_belongs_to_it(booking: Session) -> None:
    turn, approval = booking.turns.get(), booking.approvals.get()
    file = Artifact.objects.create(session=booking, name="t.pdf", mime_type="application/pdf", size_bytes=1)

    for public_id in (booking.public_id, turn.public_id, approval.approval_id, file.artifact_id):
        assert found(public_id) == found(public_id.upper()) == [booking.pk]
    assert found(booking.public_id[:9]) == [booking.pk]
    assert found("0" * 26) == []


def test_a_guest_is_found_by_the_id_that_pages_show_of_them() -> None:
    visitor, _ = factories.make_visitor()
    session = factories.make_session(visitor)
    factories.make_session()

    assert found(visitor.owner_key[:12]) == [session.pk]
    assert found(owner=visitor.key) == [session.pk]


@pytest.mark.parametrize(
    "typed",
    [
        '"',
        "q'z",
        "foo*",
        "NEAR(a",
        "-xylophone",
        "a:b & | !",
        "\\",
        "%",
        "(((",
        "\0",
        "\ud800",
        "x " * 999,
        "y" * 9999,
        "'':*",
        "* *",
        "東" * 300,
    ],
)
def test_whatever_is_typed_is_words_and_never_an_error(booking: Session, typed: str) -> None:
    asked = read_query(typed)

    assert (found(typed) == []) is not asked.is_empty
    assert len(asked.tokens) <= 8
    assert asked.cut is (len(" ".join(typed.split())) > 200 or typed.startswith("x "))


def test_the_words_that_are_found_are_marked_and_all_else_is_escaped() -> None:
    line = 'Frau <b>Müller</b> & "Straße" zu Mülheim'

    shown = marking.marked(line, read_query("muller STRASSE").words)

    assert (
        shown
        == "Frau &lt;b&gt;<mark>Müller</mark>&lt;/b&gt; &amp; &quot;<mark>Straße</mark>&quot; zu Mülheim"
    )
    assert marking.best_line(
        "train to Porto\na refund\ntwo refunds for a train", ("refund", "train")
    ).startswith("two")


def test_its_limits_are_written_down() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    table = text.split("## Of the search of conversations")[1].split("\n## ")[0]

    for told in (
        f"| {query.CHARACTERS} and {query.WORDS} |",
        f"| {said.CHARACTERS:,}, the last ones |",
        f"| {said.VALUES}, the first ones |",
        f"| {folding.TOKEN_CHARACTERS} |",
        f"| {listing.COUNTED} |",
        f"(`BEACH_SEARCH_SECONDS` ({conf.BEACH_SEARCH_SECONDS:g})"[1:],
    ):
        assert told in table, told


# -- how it stands -----------------------------------------------------------------------------------------------


def test_each_state_has_its_word() -> None:
    def state(session: Session) -> str:
        return facts(session).state

    session = factories.make_session()
    assert state(session) == State.EMPTY
    turn = factories.make_turn(session)
    assert state(session) == State.WORKING
    factories.settle_turn(turn)
    assert state(session) == State.ANSWERED
    factories.settle_turn(factories.make_turn(session), "clarifying")
    assert state(session) == State.ASKED
    factories.settle_turn(factories.make_turn(session), "error", finalized_by="cancelled")
    assert state(session) == State.STOPPED
    assert not facts(session).has_error
    factories.settle_turn(factories.make_turn(session), "error")
    assert state(session) == State.FAILED
    approval = factories.make_approval(session)
    assert state(session) == State.WAITING
    with writing(session.pk):
        ToolCall.objects.filter(pk=approval.tool_call_id).update(state="unknown")
        type(approval).objects.filter(pk=approval.pk).update(state="granted")
    factories.add_row(approval.turn, "note", {"note": ""})
    assert state(session) == State.UNKNOWN
    assert facts(session).has_error
    assert facts(session).has_approval


def test_filters_hold_together(booking: Session) -> None:
    porto = Session.objects.get(title="Porto")
    owner = f"user:{booking.participants.get(role='owner').user_id}"
    now = timezone.now()

    assert found() == [porto.pk, booking.pk]
    assert found(state=State.WAITING) == found(has_approval=True) == found(owner=owner) == [booking.pk]
    assert found("train", state=State.WAITING) == found(has_error=True) == found(actor="travel") == []
    assert found(actor="billing") == [porto.pk, booking.pk]
    assert found("refund", since=now - timedelta(days=1), until=now + timedelta(days=1)) == [booking.pk]
    assert found("refund", since=now + timedelta(days=1)) == found(until=now - timedelta(days=1)) == []
    assert found(booking.public_id, state=State.WORKING) == []
    assert listing.counts([State.WAITING, State.WORKING, State.FAILED]) == {
        State.WAITING: 1,
        State.WORKING: 1,
        State.FAILED: 0,
    }


@pytest.mark.parametrize("words", ["", "porto"])
def test_pages_go_on_from_a_place_and_back_without_a_gap(words: str) -> None:
    sessions = [factories.make_session(title=f"Porto {number}").pk for number in range(7)]
    factories.make_session(title="Lisbon")
    follow()
    filters = Filters(read_query(words), among=sessions)
    walked, page = [], search.listed(filters, size=3)
    assert page.newer is None
    while True:
        walked.append(page.sessions)
        # What comes meanwhile shifts nothing.
        factories.make_session(title="Porto")
        if page.older is None:
            break
        page = search.listed(filters, before=page.older, size=3)

    assert walked == [sessions[:3:-1], sessions[3:0:-1], sessions[:1]]
    back = search.listed(filters, after=page.newer, size=3)
    assert back.sessions == walked[1]
    assert back.older is not None
    assert search.listed(filters, after=back.newer, size=3) == replace(
        search.listed(filters, size=3), newer=None
    )


def test_what_was_left_empty_leaves_no_gap_between_the_values_beside_it() -> None:
    assert said.values_of({"name": "Ada Lovelace", "email": "", "note": " ", "seats": 0}) == [
        "Ada Lovelace · 0"
    ]
