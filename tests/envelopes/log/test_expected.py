"""Appends that say which row they expect, sessions that somebody else has locked, and rows as they are read back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from time import sleep
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.errors import LeaseLost, NotFound
from envelopes.log.append import TurnFence
from envelopes.log.backends import backend_for
from envelopes.log.backends.port import Append, Backend, Behind, Locked, NewRow, Outcome, Stored
from envelopes.log.commits import Committer
from envelopes.log.doorbell import Doorbell
from envelopes.log.reading import reader_for
from envelopes.models import Event, Session
from envelopes.protocol.text import clean_json
from tests.envelopes.log.databases import append_and_wait, make_session, make_turn, write_when_free
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


@pytest.fixture
def backend(alias: str) -> Iterator[Backend]:
    made = backend_for(alias)
    yield made
    made.close()


def note(session: Session | int, *words: str, expected: int | None = None, **more: Any) -> Append:
    pk = session if isinstance(session, int) else session.pk
    return Append(pk, more.get("fence"), [NewRow("note", {"text": word}) for word in words], expected)


def texts(session: Session) -> list[str]:
    found = Event.objects.using(session._state.db).filter(session=session).order_by("seq")
    assert [row.seq for row in found] == list(range(1, len(found) + 1))
    session.refresh_from_db()
    assert session.last_seq == len(found)
    return [row.data["text"] for row in found]


def told(outcomes: list[Outcome]) -> list[Any]:
    return [
        (one.first, one.last)
        if isinstance(one, Stored)
        else ("behind", one.last_seq)
        if isinstance(one, Behind)
        else type(one)
        for one in outcomes
    ]


def test_who_expects_another_row_is_behind_and_stores_nothing(alias: str, backend: Backend) -> None:
    session, other = make_session(alias), make_session(alias)
    turn = make_turn(session)

    group = [
        note(session, "ahead", expected=1),
        note(session, "a", "b", expected=0),
        note(session, "late", expected=0),
        note(other, "x"),
        note(session, "c", expected=2),
        note(session, "d"),
        note(session, "lost", expected=0, fence=TurnFence(turn.pk, 9)),
        note(session, "e", expected=4, fence=TurnFence(turn.pk, 1)),
        note(987_654_321, "nobody", expected=0),
        note(other, "y", expected=0),
    ]
    assert told(backend.write(group)) == [
        ("behind", 0), (1, 2), ("behind", 2), (1, 1), (3, 3), (4, 4), LeaseLost, (5, 5), NotFound, ("behind", 1),
    ]  # fmt: skip
    assert (texts(session), texts(other)) == (["a", "b", "c", "d", "e"], ["x"])


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    group=st.lists(
        st.tuples(st.integers(0, 1), st.integers(1, 2), st.none() | st.integers(0, 4)), min_size=1, max_size=8
    )
)
def test_a_group_does_as_one_after_the_other_would(
    alias: str, group: list[tuple[int, int, int | None]]
) -> None:
    backend, sessions = backend_for(alias), [make_session(alias) for _ in range(2)]
    last, expected = [0, 0], []
    for where, count, at in group:
        if at not in (None, last[where]):
            expected.append(("behind", last[where]))
            continue
        expected.append((last[where] + 1, last[where] + count))
        last[where] += count

    appends = [note(sessions[where], *"ab"[:count], expected=at) for where, count, at in group]
    assert told(backend.write(appends)) == expected
    assert [len(texts(session)) for session in sessions] == last
    backend.close()


def test_two_that_race_lose_no_number_and_double_none(alias: str) -> None:
    """Each goes on from where the other has left the log, as often as it takes."""
    session, count = make_session(alias), 20

    def write(name: str) -> int:
        backend, at, behind = backend_for(alias), 0, 0
        for number in range(count):
            while True:
                (outcome,) = write_when_free(backend, [note(session, f"{name}{number}", expected=at)])
                if isinstance(outcome, Stored):
                    assert outcome.first == at + 1
                    at = outcome.last
                    break
                assert isinstance(outcome, Behind)
                at, behind = outcome.last_seq, behind + 1
        backend.close()
        return behind

    assert all(isinstance(found, int) for found in together(lambda: write("a"), lambda: write("b")))
    found = texts(session)
    for name in "ab":
        assert [word for word in found if word[0] == name] == [f"{name}{n}" for n in range(count)]


def _postgres_only(alias: str) -> None:
    if connections[alias].vendor != "postgresql":
        pytest.skip("SQLite has one lock for all")


def test_a_session_that_is_locked_is_left_out_and_the_others_do_not_wait(
    alias: str, backend: Backend
) -> None:
    _postgres_only(alias)
    locked, free = make_session(alias), make_session(alias)
    with transaction.atomic(using=alias):
        Session.objects.using(alias).select_for_update().get(pk=locked.pk)
        group = [note(locked, "a", expected=0), note(free, "b"), note(987_654_321, "x")]
        assert told(backend.write(group)) == [Locked, (1, 1), NotFound]
    assert told(backend.write([note(locked, "c")])) == [(1, 1)]
    assert (texts(locked), texts(free)) == (["c"], ["b"])


def test_a_locked_session_holds_up_its_own_appends_and_nobody_elses(alias: str) -> None:
    _postgres_only(alias)
    locked, free = make_session(alias), make_session(alias)
    committer = Committer(lambda: backend_for(alias), Doorbell())
    answers: dict[str, Stored] = {}

    def write(session: Session, word: str) -> None:
        answers[word] = append_and_wait(committer, note(session, word))

    threads = []
    with transaction.atomic(using=alias):
        Session.objects.using(alias).select_for_update().get(pk=locked.pk)
        for number in range(3):
            threads.append(threading.Thread(target=write, args=(locked, str(number))))
            threads[-1].start()
            sleep(0.05)
        assert append_and_wait(committer, note(free, "x")).first == 1
        assert not answers
        released = timezone.now()
    for thread in threads:
        thread.join(30)
    assert texts(locked) == ["0", "1", "2"]
    # As they were written after whatever held the lock, they say so.
    assert all(stored.at >= released for stored in answers.values())
    assert committer.stop(30)


def test_what_was_locked_is_stored_before_the_end(alias: str) -> None:
    _postgres_only(alias)
    session = make_session(alias)
    committer = Committer(lambda: backend_for(alias), Doorbell())
    thread = threading.Thread(target=lambda: append_and_wait(committer, note(session, "a")))
    with transaction.atomic(using=alias):
        Session.objects.using(alias).select_for_update().get(pk=session.pk)
        thread.start()
        sleep(0.05)
        assert not committer.stop(0.05)
    assert committer.stop(30)
    thread.join(30)
    assert texts(session) == ["a"]
    committer.start()
    assert append_and_wait(committer, note(session, "b")).first == 2
    assert committer.stop(30)


# -- rows as they are read ----------------------------------------------------------------------------------------

LEAF = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1e16, -1e22, 1.5e300, 1e-7, 5e-324, -0.0, 0.1, 1.0, 2**53 + 1, 10**40])
    | st.text()
)
DATA = st.dictionaries(
    st.text(max_size=4),
    st.recursive(
        LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_size=5,
)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.lists(DATA, min_size=1, max_size=8))
def test_rows_that_are_handed_over_are_those_that_others_read(alias: str, data: list[Any]) -> None:
    """To the order of keys and the type of numbers: what is drawn of them is the same everywhere."""
    session, backend, read = make_session(alias), backend_for(alias), reader_for(alias)
    new = [NewRow("part", clean_json(one), "text", "sally", 3) for one in data]
    (stored,) = backend.write([Append(session.pk, None, new)])
    backend.close()
    assert isinstance(stored, Stored)

    handed = [row.numbered(seq, stored.at, read(row.text)) for seq, row in enumerate(new, stored.first)]
    found = [row.as_row() for row in Event.objects.using(alias).filter(session=session).order_by("seq")]
    assert handed == found
    for mine, theirs in zip(handed, found, strict=True):
        assert json.dumps(mine.data) == json.dumps(theirs.data)
        assert mine.at.isoformat() == theirs.at.isoformat()
