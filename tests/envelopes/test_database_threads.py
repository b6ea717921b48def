"""Threads of the database: the order in a session, connections that stay open, and those that break."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connection, connections, transaction
from django.db.backends.signals import connection_created

from envelopes import database_threads as module
from envelopes.database_threads import (
    DatabaseThreads,
    beside_sessions,
    call_in,
    database_threads,
    in_session,
    later_in_session,
    read_beside_sessions,
)
from envelopes.log.append import writing
from envelopes.models import Session
from tests import factories
from tests.envelopes.log.databases import pointed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def connects() -> Iterator[list[str]]:
    """The names of the threads that connected."""
    seen: list[str] = []

    def note(**_: Any) -> None:
        seen.append(threading.current_thread().name)

    database_threads.stop(seconds=10)
    connection_created.connect(note)
    yield seen
    connection_created.disconnect(note)


async def test_work_of_a_session_is_done_in_order_in_one_thread_and_that_of_others_beside_it(
    settings: Any,
) -> None:
    settings.BEACH_DATABASE_THREADS = 2
    done: list[tuple[int, int, str]] = []
    gate = threading.Event()

    def work(session: int, number: int) -> None:
        done.append((session, number, threading.current_thread().name))

    held = in_session(1, gate.wait, 20)
    first = [in_session(1, work, 1, number) for number in range(20)]
    other = [in_session(2, work, 2, number) for number in range(20)]
    await asyncio.gather(*other)
    assert [session for session, _, _ in done] == [2] * 20, "what waits in one session holds up another"
    gate.set()
    await asyncio.gather(held, *first)

    for session in (1, 2):
        assert [number for one, number, _ in done if one == session] == list(range(20))
    assert len({(session, name) for session, _, name in done}) == 2


async def test_what_begins_waits_for_what_is_under_way() -> None:
    done: list[str] = []
    gate = threading.Event()
    held = in_session(1, gate.wait, 20)
    began = later_in_session(1, done.append, "begins")
    went_on = in_session(1, done.append, "goes on")
    gate.set()
    await asyncio.gather(held, began, went_on)

    assert done == ["goes on", "begins"]


async def test_what_is_cancelled_before_its_turn_comes_is_not_done() -> None:
    done: list[str] = []
    gate = threading.Event()
    held = in_session(1, gate.wait, 20)
    dropped, kept = in_session(1, done.append, "dropped"), in_session(1, done.append, "kept")
    dropped.cancel()
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(held, kept)

    assert done == ["kept"]


async def test_what_a_job_wants_called_is_called_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring that wakes the loop before has it run beside what is left of the job."""
    woken, called = [], list[str]()
    loop = asyncio.get_running_loop()
    real = loop.call_soon_threadsafe

    def counted(*args: Any, **options: Any) -> Any:
        woken.append(args)
        return real(*args, **options)

    monkeypatch.setattr(loop, "call_soon_threadsafe", counted)

    def work() -> list[str]:
        for name in ("one", "two"):
            call_in(loop, lambda name=name: called.append(name))
        # Time enough for a loop that was woken.
        threading.Event().wait(0.05)
        return list(called)

    assert await in_session(1, work) == []
    assert called == ["one", "two"]
    assert len(woken) == 1

    def fails() -> None:
        call_in(loop, lambda: called.append("three"))
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        await in_session(1, fails)
    assert called[2:] == ["three"]
    await asyncio.to_thread(call_in, loop, lambda: called.append("four"))
    await asyncio.sleep(0)
    assert called[3:] == ["four"]


async def test_an_error_is_raised_where_it_is_waited_for_and_the_thread_goes_on() -> None:
    with pytest.raises(Session.DoesNotExist):
        await in_session(1, Session.objects.get, pk=0)
    assert not await in_session(1, Session.objects.filter(pk=0).exists)


async def test_a_thread_connects_once(connects: list[str]) -> None:
    for _ in range(5):
        await in_session(0, Session.objects.count)
        await beside_sessions(Session.objects.count)
        await read_beside_sessions(Session.objects.count)

    assert sorted(connects) == ["beach-database-0", "beach-database-1", "beach-database-2"]


async def test_who_only_reads_waits_for_nobody_who_writes() -> None:
    gate = threading.Event()
    written = beside_sessions(gate.wait, 20)

    assert await read_beside_sessions(Session.objects.count) == 0
    assert not written.done()
    gate.set()
    assert await written


async def test_a_thread_whose_database_let_go_of_it_connects_again(connects: list[str]) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no server that could let go")
    pid = await in_session(0, _backend)
    await asyncio.to_thread(_terminate, pid)

    assert await in_session(0, Session.objects.count) == 0
    assert connects.count("beach-database-2") == 2


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchall()[0][0])


def _terminate(pid: int) -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    finally:
        connection.close()


async def test_a_session_that_somebody_keeps_locked_does_not_keep_its_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite locks no session by itself, and has a timeout of its own")
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.05)
    assert await asyncio.to_thread(database_threads.stop, 10)
    session = await sync_to_async(factories.make_session)()
    gate, begun = threading.Event(), threading.Event()
    holding = asyncio.create_task(asyncio.to_thread(_lock, session.pk, begun, gate))
    try:
        assert await asyncio.to_thread(begun.wait, 20)
        async with asyncio.timeout(10):
            with pytest.raises(OperationalError, match="lock timeout"):
                await in_session(session.pk, _touch, session.pk)
            assert await in_session(session.pk, Session.objects.count) == 1
    finally:
        gate.set()
        await holding
    await in_session(session.pk, _touch, session.pk)
    assert await asyncio.to_thread(database_threads.stop, 10)


def _touch(session: int) -> None:
    with writing(session):
        pass


def _lock(session: int, begun: threading.Event, gate: threading.Event) -> None:
    try:
        with transaction.atomic():
            Session.objects.select_for_update().get(pk=session)
            begun.set()
            gate.wait(20)
    finally:
        connection.close()


async def test_a_file_that_was_replaced_by_a_backup_is_opened_anew(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("there is no file")
    file, backup = tmp_path / "now.sqlite3", tmp_path / "backup.sqlite3"

    def prepare() -> None:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(backup)])
            factories.make_session()
            cursor.execute("VACUUM INTO %s", [str(file)])
        connections.close_all()

    await in_session(0, prepare)
    # A thread makes its connection from the settings of the moment in which it begins.
    assert await asyncio.to_thread(database_threads.stop, 10)
    try:
        with pointed("default", f"sqlite:///{file}"):
            assert await in_session(0, Session.objects.count) == 1
            backup.replace(file)
            assert await in_session(0, Session.objects.count) == 0
    finally:
        assert await asyncio.to_thread(database_threads.stop, 10)


async def test_the_end_waits_for_what_was_asked_for_but_not_for_ever() -> None:
    threads, gate, done = DatabaseThreads(), threading.Event(), []
    threads.ask(1, 0, lambda: gate.wait(20))
    last = threads.ask(1, 0, lambda: done.append("done"))
    assert not await asyncio.to_thread(threads.stop, 0.05)
    gate.set()
    await last

    assert done == ["done"]


async def test_the_end_has_one_bound_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, gate, given, clock = DatabaseThreads(), threading.Event(), [], [100.0]
    busy = [threads.ask(place, 0, lambda: gate.wait(20)) for place in range(3)]

    def join(worker: object, seconds: float) -> bool:
        given.append(seconds)
        clock[0] += seconds
        return False

    monkeypatch.setattr(module._Worker, "join", join)
    monkeypatch.setattr(module, "monotonic", lambda: clock[0])
    assert not threads.stop(1.0)
    gate.set()
    await asyncio.gather(*busy)

    assert given == [1.0, 0, 0]
