"""The list of conversations in the desk: what each row says, what is looked for, what it is filtered by."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from envelopes import search
from envelopes.admin import conversations, display
from envelopes.models import Event, Session
from envelopes.search import listing
from envelopes.search.states import State
from tests import factories
from tests.envelopes.admin.pages import client_of, text_of, url, viewer

pytestmark = pytest.mark.django_db

LIST = url(Session, "changelist")


def listed(client: Client, query: str = "") -> list[str]:
    """The titles of the rows, in order."""
    answer = client.get(f"{LIST}{query}")
    assert answer.status_code == 200
    return [str(line.facts.session) for line in answer.context["listed"].lines]


@pytest.fixture
def ada() -> Any:
    return factories.make_user("ada")


@pytest.fixture
def rows(ada: Any) -> dict[str, Session]:
    """One of each kind, by title; the last is the newest."""
    visitor, _ = factories.make_visitor()
    made = {
        "Porto": factories.make_session(visitor, title="Porto", actor="gone"),
        "Corfu": factories.make_session(ada, title="Corfu"),
        "Lisbon": factories.make_session(
            factories.access.program("peer", "7", name="Travel peer"), title="Lisbon"
        ),
    }
    factories.settle_turn(factories.make_turn(made["Porto"], text="Under <b>Lovelace</b>, please"), "error")
    factories.make_approval(made["Corfu"])
    factories.make_turn(made["Lisbon"], text="A refund for Lovelace")
    return made


def test_a_row_says_what_was_said_by_whom_and_how_it_stands(rows: dict[str, Session]) -> None:
    porto = rows["Porto"].participants.get(role="owner")

    text = text_of(viewer().get(LIST).content)

    for words in (
        "Conversations",
        f"Porto Under <b>Lovelace</b>, please Guest {porto.owner_key[:6].upper()} Error gone",
        "Corfu Pay 40 back for order A17? ada Waiting",
        "Lisbon A refund for Lovelace Travel peer program Working",
        "Newest first",
    ):
        assert words in text, words
    for tab in ("All", "Waiting 1", "Working 1", "With an error 1"):
        assert tab in text
    assert "to view" not in text


def test_what_was_found_is_marked_and_escaped(rows: dict[str, Session]) -> None:
    html = viewer().get(f"{LIST}?q=LOVE").content.decode()

    assert "Under &lt;b&gt;<mark>Love</mark>lace&lt;/b&gt;, please" in html
    assert "A refund for <mark>Love</mark>lace" in html
    assert "searched titles, words, bookings and IDs" in html


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["Lisbon", "Corfu", "Porto"]),
        ("?q=lovelace", ["Lisbon", "Porto"]),
        ("?q=lovelace&state=working", ["Lisbon"]),
        ("?q=zzz", []),
        ("?q=%22", ["Lisbon", "Corfu", "Porto"]),
        ("?state=waiting", ["Corfu"]),
        ("?state=failed", ["Porto"]),
        ("?state=nonsense", ["Lisbon", "Corfu", "Porto"]),
        ("?agent=gone", ["Porto"]),
        ("?owner=guests", ["Porto"]),
        ("?owner=people", ["Corfu"]),
        ("?owner=programs", ["Lisbon"]),
        ("?owner=peer:7", ["Lisbon"]),
        ("?approval=1", ["Corfu"]),
        ("?error=1", ["Porto"]),
        ("?day=1", ["Lisbon", "Corfu", "Porto"]),
        ("?day=1999-12-31", []),
        ("?day=2026-02-31", ["Lisbon", "Corfu", "Porto"]),
        ("?before=0", []),
        ("?before=x&after=&o=1.-2&p=7&all=", ["Lisbon", "Corfu", "Porto"]),
    ],
)
def test_it_is_filtered_by_what_the_address_says(
    rows: dict[str, Session], query: str, titles: list[str]
) -> None:
    assert listed(viewer(), query) == titles


def test_everything_in_a_filter_leads_where_it_says(rows: dict[str, Session]) -> None:
    client = viewer()
    html = client.get(f"{LIST}?q=lovelace&day=7").content.decode()
    links = {link.replace("&amp;", "&") for link in re.findall(r'href="(\?[^"]*)"', html)}

    assert len(links) > 15
    for link in links:
        assert client.get(f"{LIST}{link}").status_code == 200
    assert "?q=lovelace" in links
    assert any("owner=user" in link or "owner=peer" in link for link in links)


def test_days_are_the_readers(settings: Any, rows: dict[str, Session]) -> None:
    """What was said at 23:30 in UTC was said on the next day in Auckland."""
    at = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
    Event.objects.filter(session=rows["Porto"]).update(at=at)

    sum(search.index_all(anew=True))
    assert listed(viewer(), "?day=2026-03-05") == ["Porto"]
    with timezone.override("Pacific/Auckland"):
        assert conversations._days("2026-03-06")[0] == datetime(2026, 3, 5, 11, tzinfo=UTC)
    assert listed(viewer(), "?day=2026-03-06") == []


def test_one_goes_on_to_older_ones_and_back(
    monkeypatch: pytest.MonkeyPatch, rows: dict[str, Session]
) -> None:
    monkeypatch.setattr(conversations, "PAGE", 2)
    client = viewer()

    page = client.get(f"{LIST}?owner=&q=").context["listed"]
    assert not page.newer
    older = client.get(f"{LIST}{page.older}").context["listed"]
    assert [str(line.facts.session) for line in older.lines] == ["Porto"]
    assert not older.older
    assert listed(client, older.newer) == ["Lisbon", "Corfu"]


def test_it_says_what_it_cuts_and_what_it_has_not_read_yet(
    monkeypatch: pytest.MonkeyPatch, rows: dict[str, Session]
) -> None:
    monkeypatch.setattr(conversations, "CAUGHT_UP", 1)

    first = text_of(viewer().get(f"{LIST}?q={'lovelace+' * 9}").content)

    assert "Older conversations are still being indexed" in first
    assert "Only the first words were searched for: lovelace" in first
    assert "Your search has no words in it." in text_of(viewer().get(f"{LIST}?q=%22").content)


def test_only_those_who_may_see_conversations_see_the_list(rows: dict[str, Session]) -> None:
    answer = client_of(factories.make_user("eve", staff=True)).get(LIST)

    assert answer.status_code == 403
    assert b"Lovelace" not in answer.content


def test_a_list_of_nothing_says_so() -> None:
    assert "No conversations yet." in text_of(viewer().get(LIST).content)
    assert "No conversations match. Show all" in text_of(viewer().get(f"{LIST}?q=x").content)


def test_a_count_stops_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "COUNTED", 1)
    monkeypatch.setattr(listing, "COUNTED", 1)
    for _ in range(3):
        factories.make_turn(factories.make_session())

    assert "Working 1+" in text_of(viewer().get(LIST).content)


def test_what_was_said_last_stands_first() -> None:
    first, second = factories.make_session(title="First"), factories.make_session(title="Second")
    # Places are told apart by the millisecond.
    Session.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    factories.make_turn(first)
    assert listed(viewer()) == ["First", "Second"]
    Event.objects.filter(session=first).update(at=timezone.now() - timedelta(days=1))
    factories.make_turn(second)
    sum(search.index_all(anew=True))

    assert listed(viewer()) == ["Second", "First"]


@pytest.mark.parametrize(
    ("state", "stored"),
    [(State.ASKED, "clarifying"), (State.ANSWERED, "complete"), (State.STOPPED, "cancelled")],
)
def test_the_state_of_a_conversation_is_called_as_that_of_its_answer(state: State, stored: str) -> None:
    assert str(conversations.STATES[state][0]) == display.state_words(stored)
