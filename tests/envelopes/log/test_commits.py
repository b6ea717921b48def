"""The committer: who waits is told after the commit, in order; several processes, and what a killed one leaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Any

import pytest
from django.db import IntegrityError

from envelopes.errors import LeaseLost, NotFound, Unavailable
from envelopes.log import commits
from envelopes.log.append import TurnFence
from envelopes.log.backends import backend_for
from envelopes.log.backends.port import Append, Backend, NewRow, Outcome, Stored
from envelopes.log.commits import GROUP_ROWS, Committer
from envelopes.log.doorbell import Doorbell
from envelopes.models import Event, Session
from tests import nursery
from tests.envelopes.log.appending import COUNT, ROWS
from tests.envelopes.log.databases import append_and_wait, make_session, make_turn, url_of, write_when_free

pytestmark = pytest.mark.django_db(databases="__all__", transaction=True)


class Gated:
    """A backend that waits at its first group until it is let go, so that the next ones gather."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.go = threading.Event()
        self.reached = threading.Event()
        self.groups: list[int] = []

    def write(self, group: Sequence[Append]) -> list[Outcome]:
        self.groups.append(len(group))
        self.reached.set()
        assert self.go.wait(30)
        return self.backend.write(group)

    def for_all(self, error: Exception) -> bool:
        return self.backend.for_all(error)

    def close(self) -> None:
        self.backend.close()


class Heard(Doorbell):
    """Every ring as ``(session, news, rows that could be read at that moment)``."""

    def __init__(self, alias: str) -> None:
        super().__init__()
        self.alias = alias
        self.rings: list[tuple[int, bool]] = []

    def ring(self, session: int, *, news: bool = False, **more: Any) -> None:
        self.rings.append((session, news))
        super().ring(session, news=news, **more)


@pytest.fixture
def gate(alias: str) -> Gated:
    return Gated(backend_for(alias))


@pytest.fixture
def bell(alias: str) -> Heard:
    return Heard(alias)


@pytest.fixture
def committer(gate: Gated, bell: Heard) -> Iterator[Committer]:
    made = Committer(lambda: gate, bell)
    yield made
    gate.go.set()
    assert made.stop(30)


def note(session: Session | int, *words: str, kind: str = "note", **more: Any) -> Append:
    pk = session if isinstance(session, int) else session.pk
    rows = [NewRow(kind, {"text": word}, turn=more.get("turn", 0)) for word in words]
    return Append(pk, more.get("fence"), rows)


def texts(session: Session) -> list[str]:
    rows = Event.objects.using(session._state.db).filter(session=session).order_by("seq")
    return [row.data["text"] for row in rows]


class Tail:
    """Appends of one event loop: one that holds the committer at the gate, and others that gather behind it."""

    def __init__(self, committer: Committer, gate: Gated, first: Append) -> None:
        self.committer = committer
        self.told: list[asyncio.Future[Stored]] = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.add(first)
        assert gate.reached.wait(30)

    def add(self, *appends: Append) -> None:
        for append in appends:
            asyncio.run_coroutine_threadsafe(self._hand_over(append), self.loop).result(30)

    async def _hand_over(self, append: Append) -> None:
        self.told.append(self.committer.append(append))

    def end(self) -> list[Any]:
        """What each was told, but for the first."""
        answers = asyncio.run_coroutine_threadsafe(self._answers(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)
        self.loop.close()
        return answers[1:]

    async def _answers(self) -> list[Any]:
        return await asyncio.gather(*self.told, return_exceptions=True)


def test_what_comes_during_a_commit_goes_together_and_each_is_told_its_own(
    alias: str, committer: Committer, gate: Gated, bell: Heard
) -> None:
    one, two = make_session(alias), make_session(alias)
    turn = make_turn(two)
    tail = Tail(committer, gate, note(one, "first"))
    tail.add(
        note(two, "a", fence=TurnFence(turn.pk, 1)),
        note(one, "b", "c"),
        note(two, "x", fence=TurnFence(turn.pk, 2)),
        note(987_654_321, "x"),
        note(one, "d", kind="settled"),
    )
    gate.go.set()
    answers = tail.end()

    assert gate.groups == [1, 5]
    assert [(a.first, a.last) if isinstance(a, Stored) else type(a) for a in answers] == [
        (1, 1), (2, 3), LeaseLost, NotFound, (4, 4),
    ]  # fmt: skip
    assert (texts(one), texts(two)) == (["first", "b", "c", "d"], ["a"])
    assert committer.stop(30)
    # One ring a session and group; a list shows the session otherwise if any of its rows says so.
    assert bell.rings == [(one.pk, False), (two.pk, False), (one.pk, True)]


def test_one_that_the_database_refuses_spoils_nothing_for_the_others(
    alias: str, committer: Committer, gate: Gated, bell: Heard
) -> None:
    one, two = make_session(alias), make_session(alias)
    tail = Tail(committer, gate, note(one, "first"))
    tail.add(note(one, "a"), note(two, "b", turn=-1), note(two, "c"), note(one, "d"))
    gate.go.set()
    answers = tail.end()

    assert [type(answer) for answer in answers] == [Stored, IntegrityError, Stored, Stored]
    assert gate.groups == [1, 4, 1, 1, 1, 1]
    assert (texts(one), texts(two)) == (["first", "a", "d"], ["c"])
    assert committer.stop(30)
    assert bell.rings == [(one.pk, False), (one.pk, False), (two.pk, False)]


def test_rows_can_be_read_when_the_bell_rings_and_when_the_writer_is_told(
    alias: str, gate: Gated, committer: Committer, bell: Heard
) -> None:
    gate.go.set()
    session = make_session(alias)

    async def write() -> list[int]:
        counts: list[int] = []
        loop = asyncio.get_running_loop()
        rung: asyncio.Future[None] = loop.create_future()
        stop = bell.listen(session.pk, lambda _: rung.done() or rung.set_result(None))
        told = committer.append(note(session, "a", "b"))
        for waiting in (told, rung):
            await asyncio.wait_for(waiting, 30)
            counts.append(await asyncio.to_thread(_count, session))
        stop()
        return counts

    assert asyncio.run(write()) == [2, 2]


def _count(session: Session) -> int:
    from django.db import connections

    try:
        return Event.objects.using(session._state.db).filter(session=session).count()
    finally:
        connections.close_all()


def test_an_event_loop_keeps_its_order_without_waiting_for_each(
    alias: str, gate: Gated, committer: Committer
) -> None:
    gate.go.set()
    sessions = [make_session(alias) for _ in range(3)]

    async def write() -> list[Stored]:
        return await asyncio.gather(*(committer.append(note(sessions[n % 3], str(n))) for n in range(90)))

    stored = asyncio.run(write())
    for place, session in enumerate(sessions):
        assert texts(session) == [str(n) for n in range(place, 90, 3)]
        assert [one.first for one in stored[place::3]] == list(range(1, 31))


def test_a_group_is_bounded_by_rows(alias: str, gate: Gated, committer: Committer) -> None:
    session = make_session(alias)
    tail = Tail(committer, gate, note(session, "first"))
    tail.add(note(session, *["x"] * (GROUP_ROWS - 1)), note(session, "y", "z"), note(session, "last"))
    gate.go.set()
    assert all(isinstance(answer, Stored) for answer in tail.end())
    assert gate.groups == [1, 2, 1]


def test_whoever_is_cancelled_while_they_wait_has_handed_over(
    alias: str, gate: Gated, committer: Committer
) -> None:
    session = make_session(alias)

    async def write() -> Stored:
        given_up = committer.append(note(session, "a"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(given_up, 0.05)
        gate.go.set()
        return await asyncio.wait_for(committer.append(note(session, "b")), 30)

    assert asyncio.run(write()).first == 2
    assert texts(session) == ["a", "b"]


def test_whatever_is_raised_answers_those_who_wait_and_the_next_ones_are_stored(
    alias: str, gate: Gated, committer: Committer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.go.set()
    session = make_session(alias)

    def fail(*_: Any, **__: Any) -> Any:
        raise SystemExit(1)

    async def write() -> Stored:
        with monkeypatch.context() as patched:
            patched.setattr(gate, "write", fail)
            with pytest.raises(Unavailable):
                await asyncio.wait_for(committer.append(note(session, "a")), 5)
        return await asyncio.wait_for(committer.append(note(session, "b")), 5)

    assert asyncio.run(write()).first == 1
    assert texts(session) == ["b"]


class _Unreadable:
    """A row whose size cannot be told: what gathers fails of it."""

    text = None


class _NoKinds:
    def __contains__(self, kind: object) -> bool:
        raise RuntimeError("nobody knows the kinds")


def test_an_error_while_a_group_is_gathered_answers_all_of_it(
    alias: str, gate: Gated, committer: Committer
) -> None:
    session = make_session(alias)
    tail = Tail(committer, gate, note(session, "first"))
    tail.add(note(session, "a"), Append(session.pk, None, [_Unreadable()]))  # type: ignore[list-item]
    gate.go.set()
    assert [type(answer) for answer in tail.end()] == [TypeError, TypeError]
    assert append_and_wait(committer, note(session, "b")).first == 2
    assert texts(session) == ["first", "b"]


def test_an_error_while_a_group_is_told_leaves_nobody_waiting(
    alias: str, gate: Gated, committer: Committer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hear that their rows are stored."""
    session = make_session(alias)

    async def write() -> list[int]:
        with monkeypatch.context() as patched:
            patched.setattr(commits, "LISTED", _NoKinds())
            first = committer.append(note(session, "a"))
            second = committer.append(note(session, "b"))
            gate.go.set()
            stored = await asyncio.wait_for(asyncio.gather(first, second), 5)
        return [
            one.first for one in (*stored, await asyncio.wait_for(committer.append(note(session, "c")), 5))
        ]

    assert asyncio.run(write()) == [1, 2, 3]
    assert texts(session) == ["a", "b", "c"]


def test_it_begins_anew_where_its_thread_is_dead(alias: str, gate: Gated, committer: Committer) -> None:
    gate.go.set()
    session = make_session(alias)
    committer._thread = threading.Thread(target=bool)
    committer._thread.start()
    committer._thread.join()

    async def write() -> Stored:
        return await asyncio.wait_for(committer.append(note(session, "a")), 5)

    assert asyncio.run(write()).first == 1


def test_an_event_loop_that_is_gone_does_not_stop_it(alias: str, gate: Gated, committer: Committer) -> None:
    session = make_session(alias)

    async def leave() -> None:
        committer.append(note(session, "a"))
        await asyncio.to_thread(gate.reached.wait, 30)

    asyncio.run(leave())
    gate.go.set()
    assert append_and_wait(committer, note(session, "b")).first == 2


def test_a_bell_that_breaks_does_not_stop_it(
    alias: str, gate: Gated, committer: Committer, bell: Heard, caplog: pytest.LogCaptureFixture
) -> None:
    gate.go.set()
    session = make_session(alias)

    def relay(session: int, work: bool, news: bool) -> None:
        raise OSError("the relay is away")

    bell.relay = relay
    for number in (1, 2):
        assert append_and_wait(committer, note(session, "a")).first == number
    assert committer.stop(30)
    assert [record.message for record in caplog.records] == [f"Ringing for session {session.pk} failed."] * 2


def test_stopping_commits_what_was_handed_over_and_takes_nothing_more(
    alias: str, gate: Gated, committer: Committer
) -> None:
    session = make_session(alias)
    tail = Tail(committer, gate, note(session, "first"))
    tail.add(*(note(session, str(n)) for n in range(5)))
    assert not committer.stop(0.05)
    with pytest.raises(Unavailable):
        append_and_wait(committer, note(session, "late"))
    gate.go.set()
    assert committer.stop(30)
    assert [answer.first for answer in tail.end()] == [2, 3, 4, 5, 6]
    assert texts(session) == ["first", "0", "1", "2", "3", "4"]


def test_one_that_was_never_used_stops_at_once_and_can_start_again(alias: str) -> None:
    session, committer = make_session(alias), Committer(lambda: backend_for(alias))
    for number in (1, 2):
        assert committer.stop(0)
        committer.start()
        assert append_and_wait(committer, note(session, "a")).first == number
        assert committer.stop(30)


# -- several processes --------------------------------------------------------------------------------------------


def _start(mode: str, name: str, alias: str, sessions: Sequence[Session], out: IO[bytes]) -> nursery.Process:
    environ = {**os.environ, "BEACH_TEST_DATABASE_URL": url_of(alias)}
    words = [mode, name, *(str(session.pk) for session in sessions)]
    return nursery.start(words, environ, out, module="tests.envelopes.log.appending")


def _told(session: Session) -> dict[str, list[int]]:
    """What each writer has in a session, in order: ``n`` of each append. Checks numbers, and that none was torn."""
    rows = list(Event.objects.using(session._state.db).filter(session=session).order_by("seq"))
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    session.refresh_from_db()
    assert session.last_seq == len(rows)
    found: dict[str, list[int]] = {}
    for at in range(0, len(rows), ROWS):
        whole = rows[at : at + ROWS]
        assert [row.data for row in whole] == [whole[0].data] * ROWS
        found.setdefault(whole[0].data["by"], []).append(whole[0].data["n"])
    return found


def test_two_processes_append_to_the_same_sessions_in_both_ways(alias: str) -> None:
    sessions = [make_session(alias) for _ in range(4)]
    with tempfile.TemporaryFile() as out:
        writers = [
            _start("mixed", name, alias, order, out)
            for name, order in (("a", sessions), ("b", sessions[::-1]))
        ]
        ends = [writer.wait(120) for writer in writers]
        out.seek(0)
        assert ends == [0, 0], out.read().decode()

    expected = {f"{name} {way}": list(range(COUNT)) for name in "ab" for way in ("short", "long")}
    for session in sessions:
        assert _told(session) == expected


def _wait_for_locks(alias: str, sessions: Sequence[Session]) -> None:
    """A transaction that lost its process may end a little later."""
    backend = backend_for(alias)
    for session in sessions:
        write_when_free(backend, [Append(session.pk, None, [NewRow("note", {"by": "test", "n": 0})] * ROWS)])
    backend.close()


def test_a_process_that_is_killed_inside_of_a_group_leaves_nothing_of_it(alias: str) -> None:
    sessions = [make_session(alias) for _ in range(3)]
    with tempfile.TemporaryFile() as out:
        end = _start("die", "victim", alias, sessions, out).wait(60)
        out.seek(0)
        assert end == -signal.SIGKILL, out.read().decode()
    _wait_for_locks(alias, sessions)

    first = Event.objects.using(alias).get(session=sessions[0], seq=1)
    assert first.data == {"by": "victim", "n": 0}
    found = [
        [
            (row.seq, row.data["by"])
            for row in Event.objects.using(alias).filter(session=session).order_by("seq")
        ]
        for session in sessions
    ]
    tests = [(n, "test") for n in range(1, ROWS + 1)]
    assert found == [[(1, "victim"), *((n + 1, by) for n, by in tests)], tests, tests]


@pytest.mark.parametrize("lines", [1, 60, 300])
def test_what_a_killed_process_was_told_is_stored(alias: str, lines: int) -> None:
    sessions = [make_session(alias) for _ in range(8)]
    reads, writes = os.pipe()
    with open(reads) as out:  # noqa: PTH123 - a pipe
        with open(writes, "wb") as given:  # noqa: PTH123 - a pipe
            process = _start("forever", "victim", alias, sessions, given)
        told = [out.readline() for _ in range(lines)]
        process.kill()
        process.wait(60)
        # The last line may be torn.
        told += [line + "\n" for line in out.read().split("\n")[:-1]]
    _wait_for_locks(alias, sessions)

    stored = {session.pk: _told(session) for session in sessions}
    by_number = {
        (row.session_id, row.seq): row.data["n"]
        for row in Event.objects.using(alias).filter(session__in=[session.pk for session in sessions])
    }
    for line in told:
        session, first, last, n = json.loads(line)
        assert [by_number[session, seq] for seq in range(first, last + 1)] == [n] * ROWS
    for session in sessions:
        mine = stored[session.pk].get(f"victim {session.pk}", [])
        assert mine == list(range(len(mine)))
