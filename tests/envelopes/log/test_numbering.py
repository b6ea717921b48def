"""Deliveries with numbers, on both databases and by every way into the log: no gap, none twice, and each row's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.log import numbering
from envelopes.log.append import writing
from envelopes.log.backends import backend_for
from envelopes.log.backends.port import Append, Backend, Behind, Locked, NewRow, Stored
from envelopes.log.commits import Committer
from envelopes.log.numbering import AnyRow, Delivered, open_view
from envelopes.log.reserving import Reserved, reserving
from envelopes.models import Event, Session, StreamDelivery, StreamView
from tests.envelopes.log.databases import make_session, write_when_free
from tests.factories import make_session as make_owned

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

LIVE = "live"


def delivered(row: AnyRow) -> Sequence[Delivered]:
    """As many deliveries as the row's text has letters, each wanted as its letter."""
    return [Delivered(letter, f"beach:{letter}", "all") for letter in str(row.data.get("text", ""))]


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(numbering._by_transport, LIVE, delivered)


@pytest.fixture
def backend(alias: str) -> Iterator[Backend]:
    made = backend_for(alias)
    yield made
    made.close()


def viewed(alias: str, session: Session, *views: str) -> list[StreamView]:
    """Views of an empty session, each of which wants these letters."""
    Session.objects.using(alias).filter(pk=session.pk).update(viewed=True)
    return [
        StreamView.objects.using(alias).create(session=session, transport=LIVE, key=wants, wants=list(wants))
        for wants in views
    ]


def said(session: Session, *texts: str, expected: int | None = None) -> Append:
    return Append(session.pk, None, [NewRow("note", {"text": text}) for text in texts], expected)


def numbers(view: StreamView) -> list[tuple[int, int, str]]:
    found = StreamDelivery.objects.using(view._state.db).filter(view=view).order_by("pk")
    return list(found.values_list("seq", "row", "channel"))


def expected(texts: Sequence[str], wants: str) -> list[tuple[int, int, str]]:
    letters = [(row, letter) for row, text in enumerate(texts, 1) for letter in text if letter in wants]
    return [(seq, row, f"beach:{letter}") for seq, (row, letter) in enumerate(letters, 1)]


TEXTS = st.lists(st.lists(st.text("abc", max_size=3), min_size=1, max_size=3), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(groups=st.lists(TEXTS, min_size=1, max_size=4))
def test_the_short_way_numbers_what_it_stores(
    groups: list[list[list[str]]], alias: str, backend: Backend
) -> None:
    one, other, plain = (make_session(alias) for _ in range(3))
    views = [*viewed(alias, one, "ab", "c"), *viewed(alias, other, "abc")]
    told: dict[int, list[str]] = {one.pk: [], other.pk: [], plain.pk: []}
    for group in groups:
        members = []
        for place, texts in enumerate(group):
            session = (one, other, plain)[place % 3]
            # One in four expects a row that is not there, and is refused.
            behind = 999_999 if place % 4 == 3 else None
            members.append(said(session, *texts, expected=behind))
            if behind is None:
                told[session.pk] += texts
        while members:
            outcomes = backend.write(members)
            assert all(isinstance(one, Stored | Behind | Locked) for one in outcomes)
            again = [isinstance(outcome, Locked) for outcome in outcomes]
            members = [member for member, is_locked in zip(members, again, strict=True) if is_locked]
    for view in views:
        view.refresh_from_db()
        wants = "".join(view.wants)
        assert numbers(view) == expected(told[view.session_id], wants)
        assert (view.last, view.upto) == (len(numbers(view)), len(told[view.session_id]))


def test_rows_without_numbers_get_theirs_with_the_next(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    write_when_free(backend, [said(session, "a", "b")])
    (view,) = viewed(alias, session, "abc")
    for text in ("c", "a"):
        write_when_free(backend, [said(session, text)])
    view.refresh_from_db()
    assert numbers(view) == expected(["a", "b", "c", "a"], "abc")


def test_a_process_that_does_not_know_the_transport_leaves_its_views_alone(
    alias: str, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(alias)
    (view,) = viewed(alias, session, "abc")
    with monkeypatch.context() as less:
        less.delitem(numbering._by_transport, LIVE)
        write_when_free(backend, [said(session, "a")])
    write_when_free(backend, [said(session, "b")])
    assert numbers(view) == expected(["a", "b"], "abc")


def test_what_is_refused_takes_no_number(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    (view,) = viewed(alias, session, "abc")
    write_when_free(backend, [said(session, "a"), said(session, "b", expected=77), said(session, "c")])
    assert numbers(view) == expected(["a", "c"], "abc")


def test_the_general_ways_number_too() -> None:
    session = make_owned()
    with writing(session.pk) as writer:
        writer.add("note", {"text": "ab"})
    view = open_view(session, LIVE, "k", "ab")
    assert numbers(view) == expected(["ab"], "ab")
    with writing(session.pk) as writer:
        writer.add("note", {"text": "b"})
        writer.flush()
        writer.add("note", {"text": "ca"})
    with reserving(session.pk, Reserved(rows=1)) as reserved:
        reserved.add("note", {"text": "a"})
        reserved.add("note", {"text": "b"})
    with reserving(session.pk, Reserved(rows=1)) as reserved:
        reserved.abandon()
    assert numbers(view) == expected(["ab", "b", "ca", "a", "b"], "ab")
    again = open_view(session, LIVE, "k", "ab")
    assert (again.pk, again.last, again.upto) == (view.pk, 6, 5)


def test_a_transaction_that_fails_leaves_no_number() -> None:
    session = make_owned()
    view = open_view(session, LIVE, "k", "ab")

    def failing() -> None:
        with writing(session.pk) as writer:
            writer.add("note", {"text": "ab"})
            writer.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    with writing(session.pk) as writer:
        writer.add("note", {"text": "b"})
    assert numbers(view) == expected(["b"], "ab")


def test_a_view_that_comes_later_has_all_of_the_log_a_piece_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(numbering, "AT_ONCE", 3)
    session, texts = make_owned(), ["a", "bb", "", "c", "ab", "a", "b", "c"]
    for text in texts:
        with writing(session.pk) as writer:
            writer.add("note", {"text": text})
    view = open_view(session, LIVE, "k", "ab")
    assert numbers(view) == expected(texts, "ab")


def test_the_view_that_was_not_used_for_longest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "VIEWS", 2)
    session = make_owned()
    with writing(session.pk) as writer:
        writer.add("note", {"text": "abc"})
    for key in ("a", "b", "a", "c"):
        open_view(session, LIVE, key, key)
    assert set(StreamView.objects.values_list("key", flat=True)) == {"a", "c"}
    # It comes back as it was.
    assert numbers(open_view(session, LIVE, "b", "b")) == expected(["abc"], "b")


def test_a_session_that_nobody_counts_pays_for_no_statement() -> None:
    session, counted = make_owned(), make_owned()
    open_view(counted, LIVE, "k", "ab")

    def asked(pk: int) -> list[str]:
        with (
            CaptureQueriesContext(
                connection,
            ) as queries,
            writing(pk) as writer,
        ):
            writer.add("note", {"text": "a"})
        return [query["sql"] for query in queries]

    assert not [sql for sql in asked(session.pk) if "stream" in sql]
    assert [sql for sql in asked(counted.pk) if "stream" in sql]


async def test_many_at_once_number_without_gaps() -> None:
    from asgiref.sync import sync_to_async

    session = await sync_to_async(make_owned)()
    view = await sync_to_async(open_view)(session, LIVE, "k", "ab")
    committer = Committer()

    def general() -> None:
        for _ in range(10):
            with writing(session.pk) as writer:
                writer.add("note", {"text": "ab"})

    async def short() -> None:
        for _ in range(10):
            await committer.append(said(session, "a", "cb"))

    await asyncio.gather(sync_to_async(general)(), short(), short())
    assert await sync_to_async(committer.stop)(10)

    def check() -> None:
        rows: list[Any] = list(
            Event.objects.filter(session=session).order_by("seq").values_list("data", flat=True)
        )
        assert numbers(view) == expected([row["text"] for row in rows], "ab")

    await sync_to_async(check)()
