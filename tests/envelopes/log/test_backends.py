"""The short way into the log, on both databases: what ``writing`` promises, for several sessions in a transaction."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import DataError, IntegrityError, OperationalError, connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.errors import LeaseLost, NotFound
from envelopes.log.append import JobFence, TurnFence
from envelopes.log.backends import backend_for
from envelopes.log.backends.port import Append, Backend, NewRow, Outcome, Stored
from envelopes.log.commits import _answers
from envelopes.models import Event, Session, ToolCall, Turn
from tests.envelopes.log.databases import make_job, make_session, make_turn, pointed, url_of, write_when_free

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")

NOBODY = 987_654_321


@pytest.fixture
def backend(alias: str) -> Iterator[Backend]:
    made = backend_for(alias)
    yield made
    made.close()


def note(session: Session | int, *words: str, fence: TurnFence | JobFence | None = None) -> Append:
    pk = session if isinstance(session, int) else session.pk
    return Append(pk, fence, [NewRow("note", {"text": word}) for word in words])


def log_of(session: Session) -> list[tuple[int, str]]:
    """``(number, text)`` of each row, in order; the session says the same of its end."""
    alias = session._state.db
    found = Event.objects.using(alias).filter(session=session).order_by("seq").values_list("seq", "data")
    session.refresh_from_db(using=alias)
    assert session.last_seq == len(found)
    return [(seq, data["text"]) for seq, data in found]


def numbers(outcomes: list[Outcome]) -> list[tuple[int, int] | type[Exception]]:
    return [(one.first, one.last) if isinstance(one, Stored) else type(one) for one in outcomes]


def test_a_group_of_several_sessions_gets_numbers_in_the_order_given(alias: str, backend: Backend) -> None:
    one, two = make_session(alias), make_session(alias)

    outcomes = backend.write(
        [note(two, "a"), note(one, "b", "c"), note(NOBODY, "x"), note(two, "d", "e"), note(one, "f")]
    )

    assert numbers(outcomes) == [(1, 1), (1, 2), NotFound, (2, 3), (3, 3)]
    assert log_of(one) == [(1, "b"), (2, "c"), (3, "f")]
    assert log_of(two) == [(1, "a"), (2, "d"), (3, "e")]
    assert numbers(backend.write([note(one, "g")])) == [(4, 4)]


def test_rows_are_found_by_their_ids_in_the_order_of_their_numbers(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    backend.write([note(session, *(str(n) for n in range(9))), note(session, "9", "10")])

    rows = Event.objects.using(alias).filter(session=session).order_by("pk")
    assert [row.seq for row in rows] == list(range(1, 12))


def test_a_row_has_all_that_was_said_of_it_and_the_session_its_time(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    (stored,) = backend.write(
        [
            Append(
                session.pk,
                None,
                [
                    NewRow("part", {"part": {"text": "x"}}, part_type="text", actor="sally", turn=7),
                    NewRow("part", {}, audience="audit"),
                ],
            )
        ]
    )

    assert isinstance(stored, Stored)
    first, second = Event.objects.using(alias).filter(session=session).order_by("seq")
    row = first.as_row()
    assert (row.kind, row.part_type, row.actor, row.turn, row.audience) == (
        "part",
        "text",
        "sally",
        7,
        "delivered",
    )
    assert (row.data, row.at) == ({"part": {"text": "x"}}, stored.at)
    assert (second.audience, second.at, second.data) == ("audit", stored.at, {})
    session.refresh_from_db(using=alias)
    assert session.updated_at == stored.at


MANY = {
    "plain": 'quotes " and \\ and / and \n',
    "more": "ü 漢 😀 \u2028",
    "numbers": [0, -1, 1.5, 1e22, 1e-7, 12345678901234567890, True, None],
    "deep": {"b": [], "a": {"": {}}, "b2": [[["x"]]]},
}


@pytest.mark.parametrize(
    "at", [datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), datetime(2026, 1, 2, 3, 4, 5, 0, UTC)]
)
def test_columns_hold_exactly_what_the_orm_writes(
    alias: str, backend: Backend, at: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: at)
    by_hand, by_orm = make_session(alias), make_session(alias)
    (stored,) = backend.write([Append(by_hand.pk, None, [NewRow("part", MANY, "text", "sally", 3)])])
    assert isinstance(stored, Stored) and stored.at >= at
    at = stored.at
    Event.objects.using(alias).bulk_create(
        [
            Event(
                session=by_orm, seq=1, kind="part", part_type="text", audience="delivered", actor="sally", turn=3,
                data=MANY, at=at,
            )
        ]
    )  # fmt: skip
    by_orm.last_seq = 1
    by_orm.save(update_fields=["last_seq", "updated_at"])

    columns = [
        """SELECT seq, kind, part_type, audience, actor, turn, CAST(data AS text), CAST(at AS text)
           FROM envelopes_event WHERE session_id = %s""",
        "SELECT last_seq, CAST(updated_at AS text) FROM envelopes_session WHERE id = %s",
    ]
    if connections[alias].vendor == "sqlite":
        columns.append("SELECT typeof(data), typeof(at) FROM envelopes_event WHERE session_id = %s")
    with connections[alias].cursor() as cursor:
        for query in columns:
            found = []
            for session in (by_hand, by_orm):
                cursor.execute(query, [session.pk])
                found.append(cursor.fetchall())
            assert found[0] == found[1]
            assert len(found[0]) == 1


def test_what_is_no_json_is_refused_before_anybody_stands_beside_it() -> None:
    with pytest.raises(TypeError):
        NewRow("note", {"text": object()})
    with pytest.raises(ValueError, match="at least one row"):
        Append(1, None, [])
    with pytest.raises(KeyError):
        NewRow("no such kind", {})


# -- fences -------------------------------------------------------------------------------------------------------


def test_only_the_attempt_that_runs_the_turn_may_write(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    turn = make_turn(session)
    right = TurnFence(turn.pk, 1)
    stale = [TurnFence(turn.pk, 0), TurnFence(turn.pk, 2), TurnFence(turn.pk + 1, 1)]

    outcomes = backend.write([note(session, "x", fence=fence) for fence in [*stale, right, *stale]])

    assert numbers(outcomes) == [LeaseLost] * 3 + [(1, 1)] + [LeaseLost] * 3
    for status in ("queued", "suspended", "waiting", "settled"):
        Turn.objects.using(alias).filter(pk=turn.pk).update(status=status)
        assert numbers(backend.write([note(session, "y", fence=right)])) == [LeaseLost]
    assert log_of(session) == [(1, "x")]


def test_only_the_attempt_that_runs_the_job_may_write(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    call = make_job(make_turn(session))
    right, stale = JobFence(call.pk, 1), JobFence(call.pk, 2)

    outcomes = backend.write([note(session, "x", fence=stale), note(session, "y", fence=right)])

    assert numbers(outcomes) == [LeaseLost, (1, 1)]
    ToolCall.objects.using(alias).filter(pk=call.pk).update(state="succeeded")
    assert numbers(backend.write([note(session, "z", fence=right)])) == [LeaseLost]
    assert log_of(session) == [(1, "y")]


def test_a_lost_fence_in_an_unknown_session_is_an_unknown_session(alias: str, backend: Backend) -> None:
    turn = make_turn(make_session(alias))
    assert numbers(backend.write([note(NOBODY, "x", fence=TurnFence(turn.pk, 1))])) == [NotFound]


def test_a_fence_that_is_lost_while_an_append_waits_for_the_lock_is_lost(
    alias: str, backend: Backend
) -> None:
    """The look at the fence must be younger than the lock, not as old as the statement that takes it."""
    session = make_session(alias)
    turn = make_turn(session)
    call = make_job(turn)
    found: list[Outcome] = []
    group = [
        note(session, "by the turn", fence=TurnFence(turn.pk, 1)),
        note(session, "by the job", fence=JobFence(call.pk, 1)),
        note(session, "by somebody"),
    ]
    waiting = threading.Thread(target=lambda: found.extend(write_when_free(backend, group)))

    with transaction.atomic(using=alias):
        locked = Session.objects.using(alias).select_for_update().get(pk=session.pk)
        waiting.start()
        sleep(0.3)
        assert not found
        Turn.objects.using(alias).filter(pk=turn.pk).update(attempt=2)
        ToolCall.objects.using(alias).filter(pk=call.pk).update(state="failed")
        Event.objects.using(alias).create(
            session=session,
            seq=1,
            kind="note",
            audience="audit",
            data={"text": "overtaken"},
            at=timezone.now(),
        )
        locked.last_seq = 1
        locked.save(update_fields=["last_seq"])
    waiting.join(30)

    assert numbers(found) == [LeaseLost, LeaseLost, (2, 2)]
    assert log_of(session) == [(1, "overtaken"), (2, "by somebody")]


# -- what fails ---------------------------------------------------------------------------------------------------


def _bad(session: Session) -> Append:
    """The database refuses its second row."""
    return Append(session.pk, None, [NewRow("note", {"text": "x"}), NewRow("note", {"text": "y"}, turn=-1)])


def test_a_group_that_fails_leaves_nothing_and_its_members_run_singly(alias: str, backend: Backend) -> None:
    one, two = make_session(alias), make_session(alias)
    group = [note(one, "a"), _bad(two), note(two, "b"), _bad(one), note(one, "c")]

    with pytest.raises((IntegrityError, DataError)):
        backend.write(group)
    assert (log_of(one), log_of(two)) == ([], [])

    answers = _answers(backend, group)
    assert [isinstance(answer, IntegrityError | DataError) for answer in answers] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert log_of(one) == [(1, "a"), (2, "c")]
    assert log_of(two) == [(1, "b")]


def test_a_number_no_column_can_hold_fails_alone(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    answers = _answers(
        backend, [note(10**30, "x"), note(session, "y"), note(session, "z", fence=TurnFence(1, 10**30))]
    )
    assert [isinstance(answer, Stored) for answer in answers] == [False, True, False]
    assert log_of(session) == [(1, "y")]


def test_django_does_not_close_the_connection_between_requests(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    backend.write([note(session, "a")])
    before = backend._wrapper.connection  # type: ignore[attr-defined]

    connections.close_all()
    request_finished.send(sender=None)
    backend.write([note(session, "b")])

    assert backend._wrapper.connection is before  # type: ignore[attr-defined]
    assert log_of(session) == [(1, "a"), (2, "b")]


def test_a_closed_backend_connects_again(alias: str, backend: Backend) -> None:
    session = make_session(alias)
    for word in ("a", "b"):
        backend.write([note(session, word)])
        backend.close()
    assert log_of(session) == [(1, "a"), (2, "b")]


def _only(alias: str, vendor: str) -> None:
    if connections[alias].vendor != vendor:
        pytest.skip(f"{vendor} only")


def test_a_locked_database_is_told_to_all_of_a_group(alias: str) -> None:
    _only(alias, "sqlite")
    session = make_session(alias)
    with pointed(alias, url_of(alias), timeout=0.2):
        backend = backend_for(alias)
        backend.write([note(session, "a")])
        with transaction.atomic(using=alias):
            answers = _answers(backend, [note(session, "b"), note(session, "c"), note(NOBODY, "d")])
        assert [(type(answer), str(answer)) for answer in answers] == [
            (OperationalError, "database is locked")
        ] * 3
        assert len({id(answer) for answer in answers}) == 3
        assert numbers(backend.write([note(session, "e")])) == [(2, 2)]
        backend.close()
    assert log_of(session) == [(1, "a"), (2, "e")]


def test_a_database_that_cannot_be_reached_is_told_to_all_of_a_group(alias: str, tmp_path: Path) -> None:
    away = (
        f"sqlite:///{tmp_path / 'no' / 'folder.sqlite3'}"
        if connections[alias].vendor == "sqlite"
        else "postgresql://nobody@127.0.0.1:1/nothing"
    )
    with pointed(alias, away):
        backend = backend_for(alias)
        answers = _answers(backend, [note(1, "a"), note(2, "b")])
        assert [type(answer) for answer in answers] == [OperationalError] * 2
        backend.close()


def _end_connection(alias: str, backend: Backend) -> None:
    """As a server does that is restarted."""
    pid = backend._wrapper.connection.info.backend_pid  # type: ignore[attr-defined]
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_a_connection_that_was_lost_while_idle_is_not_noticed(alias: str, backend: Backend) -> None:
    _only(alias, "postgresql")
    session = make_session(alias)
    backend.write([note(session, "a")])
    _end_connection(alias, backend)
    assert numbers(backend.write([note(session, "b")])) == [(2, 2)]


def test_a_connection_that_is_lost_in_a_group_is_told_to_all_and_stores_nothing(
    alias: str, backend: Backend
) -> None:
    _only(alias, "postgresql")
    session, other = make_session(alias), make_session(alias)
    backend.write([note(session, "a")])
    answers: list[Any] = []
    waiting = threading.Thread(
        target=lambda: answers.extend(_answers(backend, [note(other, "b"), note(session, "c")]))
    )
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute("LOCK TABLE envelopes_event IN SHARE MODE")
        waiting.start()
        sleep(0.3)
        _end_connection(alias, backend)
        waiting.join(30)

    assert [type(answer) for answer in answers] == [OperationalError] * 2
    assert (log_of(session), log_of(other)) == ([(1, "a")], [])
    assert numbers(backend.write([note(session, "d")])) == [(2, 2)]


def test_a_file_that_was_replaced_by_a_backup_is_opened_anew(alias: str, tmp_path: Path) -> None:
    _only(alias, "sqlite")
    session = make_session(alias)
    file, backup = tmp_path / "now.sqlite3", tmp_path / "backup.sqlite3"
    with connections[alias].cursor() as cursor:
        for copy in (file, backup):
            # Not by reading the file: closing it would take its locks from every connection of this process.
            cursor.execute("VACUUM INTO %s", [str(copy)])
    with pointed(alias, f"sqlite:///{file}"):
        backend = backend_for(alias)
        assert numbers(backend.write([note(session, "lost with the old file")])) == [(1, 1)]
        for side in ("-wal", "-shm"):
            Path(f"{file}{side}").unlink(missing_ok=True)
        backup.replace(file)
        assert numbers(backend.write([note(session, "a"), note(session, "b")])) == [(1, 1), (2, 2)]
        backend.close()
    with closing(sqlite3.connect(file)) as now:
        found = now.execute("SELECT data FROM envelopes_event WHERE session_id = ?", (session.pk,)).fetchall()
    assert found == [('{"text": "a"}',), ('{"text": "b"}',)]


# -- against a reference ------------------------------------------------------------------------------------------

MEMBER = st.tuples(
    st.sampled_from([0, 1, 2, None]),  # which session; None: one that is not there
    st.sampled_from(["none", "turn", "job"]),  # the fence
    st.sampled_from([-1, 0, 0, 0, 0]),  # how far its attempt is behind the one that runs
    st.integers(1, 3),  # rows
    st.booleans() | st.just(False) | st.just(False),  # a row that the database refuses
)
STEP = st.tuples(st.just("group"), st.lists(MEMBER, min_size=1, max_size=8)) | st.tuples(
    st.sampled_from(["overtake turn", "overtake job", "end turn", "end job", "long way"]), st.integers(0, 2)
)


class Reference:
    """The same in three lists."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = [[], [], []]
        self.attempts = {"turn": [1, 1, 1], "job": [1, 1, 1]}
        self.running = {"turn": [True] * 3, "job": [True] * 3}

    def append(self, where: int | None, fence: str, behind: int, words: list[str], bad: bool) -> Any:
        if where is None:
            return NotFound
        if fence != "none" and (behind or not self.running[fence][where]):
            return LeaseLost
        if bad:
            return "error"
        self.rows[where] += words
        return len(self.rows[where]) - len(words) + 1, len(self.rows[where])


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEP, min_size=1, max_size=6))
def test_it_does_as_a_simple_reference_does(alias: str, steps: list[Any]) -> None:
    backend, reference, words = backend_for(alias), Reference(), iter(range(10**6))
    sessions = [make_session(alias) for _ in range(3)]
    turns = [make_turn(session) for session in sessions]
    calls = [make_job(turn) for turn in turns]
    works: dict[str, Any] = {
        "turn": (Turn, turns, "status", "settled"),
        "job": (ToolCall, calls, "state", "failed"),
    }
    fences: dict[str, Any] = {"turn": TurnFence, "job": JobFence}
    for what, how in steps:
        if what == "group":
            group, expected = [], []
            for where, fence, behind, count, bad in how:
                texts = [str(next(words)) for _ in range(count)]
                rows = [NewRow("note", {"text": text}, turn=-1 if bad else 0) for text in texts]
                held = None
                if fence != "none":
                    at = where or 0
                    held = fences[fence](works[fence][1][at].pk, reference.attempts[fence][at] + behind)
                group.append(Append(NOBODY if where is None else sessions[where].pk, held, rows))
                expected.append(reference.append(where, fence, behind, texts, bad))
            found = [
                (answer.first, answer.last)
                if isinstance(answer, Stored)
                else type(answer)
                if isinstance(answer, LeaseLost | NotFound)
                else "error"
                for answer in _answers(backend, group)
            ]
            assert found == expected
        elif what == "long way":
            text = str(next(words))
            with transaction.atomic(using=alias):
                session = Session.objects.using(alias).select_for_update().get(pk=sessions[how].pk)
                session.last_seq += 1
                session.events.create(
                    seq=session.last_seq,
                    kind="note",
                    audience="audit",
                    data={"text": text},
                    at=timezone.now(),
                )
                session.save(update_fields=["last_seq", "updated_at"])
            reference.rows[how].append(text)
        else:
            verb, kind = what.split()
            model, objects, column, ended = works[kind]
            if verb == "overtake":
                reference.attempts[kind][how] += 1
                change = {"attempt": reference.attempts[kind][how]}
            else:
                reference.running[kind][how] = False
                change = {column: ended}
            model.objects.using(alias).filter(pk=objects[how].pk).update(**change)
        for session, texts in zip(sessions, reference.rows, strict=True):
            assert log_of(session) == list(enumerate(texts, 1))
    backend.close()
