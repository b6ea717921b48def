"""Where asynchronous code does its work with the database: a few threads, each with a connection that stays open.

All work of a session is done in one thread, in the order in which it was asked for; that of different sessions side by
side. What belongs to no session has two threads of its own: one for what is written (leases, text that streams, what is
swept away), and one that only reads (who comes to a socket, the poll), which on SQLite no lock of a writer holds up.
Requests do not come here: Django gives each its own thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import select
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import psycopg
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from envelopes.conf import conf

P = ParamSpec("P")
T = TypeVar("T")

NOW, LATER, LAST = 0, 1, 2

LOCK_SECONDS = 5.0
"""How long a statement waits for what somebody has locked (on PostgreSQL; SQLite has ``timeout``): a process that
stopped in the middle of a transaction must not stop, with one session, all that have the same thread."""

_WRITES, _READS, _SESSIONS = 0, 1, 2
"""The threads of what belongs to no session, and the first of those that do the work of sessions."""


Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class _Job:
    """No ``call`` ends the thread. ``told`` is told what came of it, in its own loop."""

    call: Callable[[], Any] | None = None
    told: asyncio.Future[Any] | None = None

    def tell(self, result: Any, error: BaseException | None = None) -> None:
        told = self.told
        if told is not None:
            call_in(told.get_loop(), partial(_tell, told, result, error))


def _tell(told: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if told.done():
        # It was cancelled: what was done stays done.
        return
    if error is None:
        told.set_result(result)
    else:
        told.set_exception(error)


class _Here(threading.local):
    """What a thread of the database has for itself: ``calls`` wait for the end of its job."""

    is_of_the_database = False
    calls: dict[asyncio.AbstractEventLoop, list[Call]] | None = None


_here = _Here()


def call_in(loop: asyncio.AbstractEventLoop, call: Call) -> None:
    """Call ``call`` in ``loop``, soon; not at all where that has closed.

    What a job of this module wants called is called with its answer: a loop that is woken runs at once, beside what is
    left of the job, and each time costs two changes of threads.
    """
    if _here.calls is not None:
        _here.calls.setdefault(loop, []).append(call)
        return
    # Whoever asked may be gone, with the loop that they asked in.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call, context=contextvars.Context())


def _call_all(calls: Sequence[Call]) -> None:
    for call in calls:
        call()


class _Worker:
    """One thread, begun with its first job. Jobs of a lower rank go before others."""

    def __init__(self, name: str) -> None:
        self._jobs: tuple[deque[_Job], ...] = tuple(deque() for _ in (NOW, LATER, LAST))
        # One for each job. A queue that is ordered is written in Python, and takes as long as a small statement.
        self._there: queue.SimpleQueue[None] = queue.SimpleQueue()
        # As a daemon: who asked for the end of the process does not wait for a database that is locked.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def do(self, rank: int, job: _Job) -> None:
        self._jobs[rank].append(job)
        self._there.put(None)

    @property
    def waiting(self) -> int:
        return self._there.qsize()

    def join(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _next(self) -> _Job:
        self._there.get()
        return next(jobs for jobs in self._jobs if jobs).popleft()

    def _run(self) -> None:
        _here.is_of_the_database = True
        kept = _Kept()
        while True:
            job = self._next()
            if job.call is None:
                connections.close_all()
                return
            if job.told is None or not job.told.cancelled():
                self._answer(job, job.call, kept)
            # Not kept until the next job comes.
            del job

    @staticmethod
    def _answer(job: _Job, call: Callable[[], Any], kept: _Kept) -> None:
        calls = _here.calls = {}
        try:
            kept.let_go_of_broken()
            result = call()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            kept.remember_new()
            job.tell(None, error)
        else:
            kept.remember_new()
            job.tell(result)
        _here.calls = None
        _hand_over(calls)
        # An error has this frame in its traceback, and what is called has the error: a circle, for the garbage
        # collector, of each job that fails.
        del job, calls


def _hand_over(calls: dict[asyncio.AbstractEventLoop, list[Call]]) -> None:
    for loop, its_own in calls.items():
        call_in(loop, partial(_call_all, its_own))


class _Kept:
    """The connections of one thread, which nobody closes for their age: looked at before each job, without asking."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[object, tuple[int, int] | None]] = {}

    def let_go_of_broken(self) -> None:
        for connection in connections.all(initialized_only=True):
            if connection.connection is None or connection.in_atomic_block:
                continue
            if connection.errors_occurred or not connection.autocommit:
                connection.close_at = None
                connection.close_if_unusable_or_obsolete()
            elif connection.vendor == "sqlite":
                # A backup may have been put in its place: what is written to the old file nobody would ever read.
                if self._files[connection.alias] != (connection.connection, _identity(connection)):
                    connection.close()
            elif not _is_alive(connection):
                connection.close()

    def remember_new(self) -> None:
        """Which file it is that a connection was opened to."""
        for connection in connections.all(initialized_only=True):
            known = self._files.get(connection.alias)
            if connection.vendor == "sqlite" and (known is None or known[0] is not connection.connection):
                self._files[connection.alias] = (connection.connection, _identity(connection))


@receiver(connection_created)
def _bound(connection: BaseDatabaseWrapper, **_: object) -> None:
    if connection.vendor == "postgresql" and _here.is_of_the_database:
        # Not among the database's options: requests wait as long as the server lets them.
        limit = f"{LOCK_SECONDS * 1000:.0f}"
        connection.connection.execute("SELECT set_config('lock_timeout', %s, false)", [limit])


def _identity(connection: BaseDatabaseWrapper) -> tuple[int, int] | None:
    """Which file stands under the database's name; None where there is none (in memory, or just being replaced)."""
    try:
        found = os.stat(connection.settings_dict["NAME"])  # noqa: PTH116 - asked before each job, and five times as fast
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_alive(connection: BaseDatabaseWrapper) -> bool:
    """Whether a connection that was idle still stands: a server that went away has said so by now."""
    pgconn = connection.connection.pgconn
    waiting = select.poll()
    try:
        waiting.register(pgconn.socket, select.POLLIN)
        while waiting.poll(0):
            pgconn.consume_input()
    except psycopg.Error:
        return False
    return bool(pgconn.status == psycopg.pq.ConnStatus.OK)


class DatabaseThreads:
    """The threads of one process, used from any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: dict[int, _Worker] = {}

    def ask(self, place: int, rank: int, call: Callable[[], T]) -> asyncio.Future[T]:
        """Do ``call`` in the thread with this number; a future of the running loop. Cancelled before its turn comes, it
        is not done; cancelled later, it is done and its result dropped."""
        told: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        job = _Job(partial(contextvars.copy_context().run, call), told)
        with self._lock:
            worker = self._workers.get(place)
            if worker is None:
                worker = self._workers[place] = _Worker(f"beach-database-{place}")
            worker.do(rank, job)
        return told

    def waiting(self, place: int) -> int:
        """How many jobs wait for the thread with this number."""
        with self._lock:
            worker = self._workers.get(place)
        return 0 if worker is None else worker.waiting

    async def caught_up(self, seconds: float) -> bool:
        """Wait until each thread has done what it was at work on, and what was asked of it before; at most so long.
        Returns whether that is so."""
        with self._lock:
            places = list(self._workers)
        if not places:
            return True
        _, late = await asyncio.wait([self.ask(place, NOW, _nothing) for place in places], timeout=seconds)
        return not late

    def stop(self, seconds: float) -> bool:
        """Do what was asked for, close the connections, end the threads; whether that was done in time. They begin anew
        with the next job."""
        with self._lock:
            ending, self._workers = list(self._workers.values()), {}
        for worker in ending:
            worker.do(LAST, _Job())
        deadline = monotonic() + seconds
        ended = [worker.join(max(0, deadline - monotonic())) for worker in ending]
        return all(ended)


def _nothing() -> None:
    pass


database_threads = DatabaseThreads()
"""The threads of this process."""


def in_session(session: int, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> asyncio.Future[T]:
    """Do ``work`` in the thread of the session with this primary key."""
    return database_threads.ask(_place(session), NOW, partial(work, *args, **options))


def later_in_session(
    session: int, work: Callable[P, T], *args: P.args, **options: P.kwargs
) -> asyncio.Future[T]:
    """The same, when nothing else is to be done in that thread: what begins something new waits for what is under way,
    or nothing would be done before everything is."""
    return database_threads.ask(_place(session), LATER, partial(work, *args, **options))


def waiting_in_session(session: int) -> int:
    """How many jobs wait for the thread of this session."""
    return database_threads.waiting(_place(session))


def beside_sessions(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> asyncio.Future[T]:
    """Do ``work`` that belongs to no session."""
    return database_threads.ask(_WRITES, NOW, partial(work, *args, **options))


def read_beside_sessions(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> asyncio.Future[T]:
    """Do ``work`` that belongs to no session and writes nothing, so that it waits for nobody who does."""
    return database_threads.ask(_READS, NOW, partial(work, *args, **options))


def _place(session: int) -> int:
    return _SESSIONS + session % int(conf.BEACH_DATABASE_THREADS)
