"""Appends that carry a client's message, on both databases: stored once, answered again, by owners only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.access import Principal
from envelopes.errors import Forbidden, NotFound
from envelopes.log.append import OwnerFence
from envelopes.log.backends import backend_for
from envelopes.log.backends.port import (
    Append,
    Backend,
    Behind,
    ClientRequest,
    NewRow,
    Outcome,
    Repeated,
    Stored,
)
from envelopes.log.commits import _answers
from envelopes.models import ClientMessage, Event, Participant, Session
from tests.envelopes.log.databases import make_session, write_when_free
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

NOBODY = 987_654_321
GUEST, OTHER = (Principal(owner_key=letter * 64) for letter in "ab")


@pytest.fixture
def backend(alias: str) -> Iterator[Backend]:
    made = backend_for(alias)
    yield made
    made.close()


def owned(alias: str, who: Principal = GUEST) -> Session:
    session = make_session(alias)
    Participant.objects.using(alias).create(
        session=session, role="owner", user=who.user, owner_key="" if who.user else who.owner_key
    )
    return session


def said(
    session: Session | int,
    word: str,
    message_id: str,
    *,
    who: Principal = GUEST,
    expected: int | None = None,
    **more: Any,
) -> Append:
    pk = session if isinstance(session, int) else session.pk
    request = ClientRequest(who.key, message_id, {"told": word})
    row = NewRow("note", {"text": word}, turn=more.get("turn", 0))
    return Append(pk, OwnerFence(who), [row], expected, request)


def told(outcomes: list[Any]) -> list[Any]:
    return [
        one.first
        if isinstance(one, Stored)
        else one.answer["told"]
        if isinstance(one, Repeated)
        else ("behind", one.last_seq)
        if isinstance(one, Behind)
        else type(one)
        if isinstance(one, Forbidden | NotFound)
        else "error"
        for one in outcomes
    ]


def words(session: Session) -> list[str]:
    rows = Event.objects.using(session._state.db).filter(session=session).order_by("seq")
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    session.refresh_from_db()
    assert session.last_seq == len(rows)
    return [row.data["text"] for row in rows]


def answers(session: Session) -> dict[str, Any]:
    kept = ClientMessage.objects.using(session._state.db).filter(session=session)
    return {message.message_id: message.answer for message in kept}


def test_a_message_that_comes_again_is_answered_again_and_changes_nothing(
    alias: str, backend: Backend
) -> None:
    session = owned(alias)
    assert told(backend.write([said(session, "a", "one", expected=0)])) == [1]
    # Wherever the log is by now, and whatever else it says.
    again = [said(session, "b", "one", expected=0), said(session, "c", "one"), said(session, "d", "two")]
    assert told(backend.write(again)) == ["a", "a", 2]
    assert (words(session), answers(session)) == (["a", "d"], {"one": {"told": "a"}, "two": {"told": "d"}})


def test_a_message_is_named_by_its_sender_and_its_conversation(alias: str, backend: Backend) -> None:
    session, other = owned(alias), owned(alias)
    Participant.objects.using(alias).create(session=session, role="owner", owner_key=OTHER.owner_key)
    group = [said(session, "a", "one"), said(other, "b", "one"), said(session, "c", "one", who=OTHER)]
    assert told(backend.write(group)) == [1, 1, 2]


def test_of_two_in_a_group_the_second_finds_the_answer_when_it_tries_again(
    alias: str, backend: Backend
) -> None:
    session = owned(alias)
    group = [
        said(session, "a", "one"),
        said(session, "b", "one", expected=1),
        said(session, "c", "two", expected=1),
    ]
    assert told(backend.write(group)) == [1, ("behind", 1), 2]
    assert told(backend.write([said(session, "b", "one", expected=2)])) == ["a"]
    assert words(session) == ["a", "c"]


def test_whoever_is_behind_leaves_nothing_to_be_repeated(alias: str, backend: Backend) -> None:
    session = owned(alias)
    assert told(backend.write([said(session, "a", "one", expected=5)])) == [("behind", 0)]
    assert answers(session) == {}
    assert told(backend.write([said(session, "a", "one", expected=0)])) == [1]


def test_only_owners_write(alias: str, backend: Backend) -> None:
    """As ``access.owns`` says, which is the same question."""
    user, staff = (
        User.objects.using(alias).create(
            username=f"{name}-{alias}", is_staff=True, is_superuser=name == "root"
        )
        for name in ("ada", "root")
    )
    guests, users = owned(alias), owned(alias, Principal(user=user))
    adopted = owned(alias, Principal(user=user))
    # A browser's key that stays beside the user who has signed in on it means nothing any more.
    Participant.objects.using(alias).filter(session=adopted).update(owner_key=GUEST.owner_key)
    watched = make_session(alias)
    Participant.objects.using(alias).create(session=watched, role="agent", owner_key=GUEST.owner_key)

    people = [GUEST, OTHER, Principal(user=user), Principal(user=staff)]
    sessions = [guests, users, adopted, watched]
    may = [
        [isinstance(backend.write([said(one, "a", "one", who=who)])[0], Stored) for one in sessions]
        for who in people
    ]

    def owns(who: Principal, session: Session) -> bool:
        whose = {"user": who.user} if who.user else {"owner_key": who.owner_key, "user__isnull": True}
        return bool(session.participants.using(alias).filter(role="owner", **whose).exists())

    assert may == [[owns(who, one) for one in sessions] for who in people]
    assert may == [[True, False, False, False], [False] * 4, [False, True, True, False], [False] * 4]


def test_who_owns_it_no_more_is_not_told_what_was_answered(alias: str, backend: Backend) -> None:
    session = owned(alias)
    backend.write([said(session, "a", "one")])
    Participant.objects.using(alias).filter(session=session).update(owner_key=OTHER.owner_key)
    assert told(backend.write([said(session, "a", "one")])) == [Forbidden]
    assert told(backend.write([said(NOBODY, "a", "one")])) == [NotFound]


def test_copies_through_several_processes_at_once_are_stored_once(alias: str) -> None:
    session = owned(alias)

    def write() -> Outcome:
        backend = backend_for(alias)
        try:
            return write_when_free(backend, [said(session, "a", "one")])[0]
        finally:
            backend.close()

    assert sorted(map(str, told(together(*[write] * 6)))) == ["1", *["a"] * 5]
    assert words(session) == ["a"]


MEMBER = st.tuples(
    st.sampled_from([0, 0, 1, None]),  # which session; None: one that is not there
    st.sampled_from(["m1", "m2", "m3", "m4"]),  # the message's id
    st.sampled_from([True, True, True, False]),  # by its owner
    st.none() | st.integers(0, 5),  # the row that it expects
    st.booleans() | st.just(False) | st.just(False),  # a row that the database refuses
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(groups=st.lists(st.lists(MEMBER, min_size=1, max_size=6), min_size=1, max_size=4))
def test_it_does_as_a_simple_reference_does(alias: str, groups: list[Any]) -> None:
    backend, sessions = backend_for(alias), [owned(alias) for _ in range(2)]
    log: list[list[str]] = [[], []]
    known: dict[tuple[int, str], str] = {}
    numbers = iter(range(10**6))

    def expect(member: Any, word: str, brought: set[tuple[int, str]]) -> Any:
        where, name, owns, expected, _ = member
        if where is None:
            return NotFound
        if not owns:
            return Forbidden
        if (where, name) in known and (where, name) not in brought:
            return known[where, name]
        if (where, name) in brought or expected not in (None, len(log[where])):
            brought.add((where, name))
            return "behind", len(log[where])
        brought.add((where, name))
        known[where, name] = word
        log[where].append(word)
        return len(log[where])

    for group in groups:
        texts = [str(next(numbers)) for _ in group]
        appends = [
            said(
                NOBODY if where is None else sessions[where],
                word,
                name,
                who=GUEST if owns else OTHER,
                expected=expected,
                turn=-1 if bad else 0,
            )
            for word, (where, name, owns, expected, bad) in zip(texts, group, strict=True)
        ]
        before, kept = [list(words) for words in log], dict(known)
        brought: set[tuple[int, str]] = set()
        found = [expect(member, word, brought) for word, member in zip(texts, group, strict=True)]
        if any(isinstance(one, int) and member[-1] for one, member in zip(found, group, strict=True)):
            # Then each stands alone.
            log, known, found = before, kept, []
            for word, member in zip(texts, group, strict=True):
                at = [list(words) for words in log], dict(known)
                found.append(expect(member, word, set()))
                if isinstance(found[-1], int) and member[-1]:
                    (log, known), found[-1] = at, "error"
        assert told(_answers(backend, appends)) == found
        for where, session in enumerate(sessions):
            assert words(session) == log[where]
            assert answers(session) == {
                name: {"told": word} for (at, name), word in known.items() if at == where
            }
    backend.close()
