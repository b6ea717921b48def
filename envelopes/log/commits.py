"""Group commit: appends that arrive while a transaction is under way share the next one (``log.backends``).

``writing`` is the general way into the log: anything may be changed in its transaction. This is the short way, for
rows that need nothing else stored. Both hold the same lock, so both may be used at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic

from django.db import Error

from envelopes.errors import Unavailable
from envelopes.log.backends import backend_for
from envelopes.log.backends.port import Append, Backend, Locked, Outcome, Stored
from envelopes.log.doorbell import Doorbell, doorbell
from envelopes.protocol.rows import LISTED

logger = logging.getLogger(__name__)

GROUP_ROWS = 500
GROUP_CHARACTERS = 4_000_000
"""A group that has so much takes nobody else in: sessions stay locked while it is written."""

LOCKED_SECONDS = (0.002, 0.05)
"""After how long a session is tried again that somebody else had locked: at first, and at most; doubled each time."""

Answered = Stored | Exception
_Answer = Outcome | Exception
_Told = tuple["asyncio.Future[Stored]", Answered]
_Ring = tuple[int, bool]
"""The last row that is known, and whether lists of sessions change."""


@dataclass(frozen=True, slots=True)
class _Member:
    append: Append
    told: asyncio.Future[Stored]


class Committer:
    """One thread with a connection of its own, which begins with the first append. Thread-safe.

    An append that finds it idle is committed at once, alone; whatever comes meanwhile goes together next. So a group
    is as large as the load makes it, and nobody waits for a clock. Appends of one event loop to one session are stored
    in the order in which they were handed over. A session that somebody else has locked holds up its own appends and
    nobody else's, where the database locks sessions singly.
    """

    def __init__(self, make: Callable[[], Backend] = backend_for, bell: Doorbell = doorbell) -> None:
        self._make = make
        self._bell = bell
        self._queue: SimpleQueue[_Member | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        # Of sessions that were locked when they were tried.
        self._held: dict[int, list[_Member]] = {}
        self._again, self._pause = 0.0, LOCKED_SECONDS[0]

    def append(self, append: Append) -> asyncio.Future[Stored]:
        """Store the rows; a future of the running loop with their numbers, once they are committed.

        It raises ``NotFound`` for an unknown session, ``LeaseLost`` or ``Forbidden`` when the fence does not hold,
        ``Repeated`` when its request has come before, ``Behind`` when the log is not where the append expects it,
        ``Unavailable`` after ``stop``, and what Django raises when the database fails. Nothing is stored then, but
        where the connection was lost during the commit. Whoever is cancelled while they wait has handed the rows over:
        they are stored.
        """
        told: asyncio.Future[Stored] = asyncio.get_running_loop().create_future()
        self._hand_over(_Member(append, told))
        return told

    def start(self) -> None:
        """Take appends again, after ``stop``."""
        with self._lock:
            if self._closed and (self._thread is None or not self._thread.is_alive()):
                self._closed, self._thread = False, None

    def stop(self, seconds: float | None = None) -> bool:
        """Commit what was handed over, take nothing more, close the connection; whether that was done in time."""
        with self._lock:
            thread = self._thread
            if not self._closed:
                self._closed = True
                if thread is not None:
                    self._queue.put(None)
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def _hand_over(self, member: _Member) -> None:
        with self._lock:
            if self._closed:
                raise Unavailable
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, args=(self._make(),), name="beach-commits", daemon=True
                )
                self._thread.start()
            self._queue.put(member)

    # -- in the thread -------------------------------------------------------------------------------------------

    def _run(self, backend: Backend) -> None:
        try:
            going = True
            while going or self._held:
                group: list[_Member] = []
                told: list[tuple[_Member, Answered]] = []
                try:
                    going = self._gather(group) and going
                    if group:
                        told = self._hold(group, _all_answers(backend, [member.append for member in group]))
                        self._tell(told)
                except BaseException as error:
                    logger.exception("A group of appends could not be told.")
                    self._tell_singly(group, told, error)
        finally:
            backend.close()

    def _gather(self, group: list[_Member]) -> bool:
        """Waits for a member, takes those that are there with it into ``group``, and says whether there may be more."""
        left = self._again - monotonic() if self._held else None
        if left is not None and left <= 0:
            for members in self._held.values():
                group += members
            self._held = {}
        rows = sum(len(member.append.rows) for member in group)
        characters = 0
        try:
            while rows < GROUP_ROWS and characters < GROUP_CHARACTERS:
                member = self._queue.get(block=not group, timeout=left)
                if member is None:
                    return False
                held = self._held.get(member.append.session_pk)
                if held is not None:
                    held.append(member)
                    left = max(0.0, self._again - monotonic())
                    continue
                group.append(member)
                rows += len(member.append.rows)
                characters += sum(len(row.text) for row in member.append.rows)
        except Empty:
            pass
        return True

    def _hold(self, group: Sequence[_Member], answers: Sequence[_Answer]) -> list[tuple[_Member, Answered]]:
        """Keeps those whose session was locked for the next time; the others with their answers."""
        told: list[tuple[_Member, Answered]] = []
        held = False
        for member, answer in zip(group, answers, strict=True):
            if isinstance(answer, Locked):
                self._held.setdefault(member.append.session_pk, []).append(member)
                held = True
            else:
                told.append((member, answer))
        if held:
            self._again = monotonic() + self._pause
            self._pause = min(2 * self._pause, LOCKED_SECONDS[1])
        elif not self._held:
            self._pause = LOCKED_SECONDS[0]
        return told

    def _tell(self, told: Iterable[tuple[_Member, Answered]]) -> None:
        """Each waiter hears, then the bell rings; an event loop is woken once for all of its own.

        In its loop the bell rings after its waiters were told, so whoever they have told need not look for rows.
        """
        loops: dict[asyncio.AbstractEventLoop, tuple[list[_Told], dict[int, _Ring]]] = {}
        for member, answer in told:
            waiters, rings = loops.setdefault(member.told.get_loop(), ([], {}))
            waiters.append((member.told, answer))
            if isinstance(answer, Stored):
                listed = any(row.kind in LISTED for row in member.append.rows)
                before = rings.get(member.append.session_pk, (0, False))
                rings[member.append.session_pk] = answer.last, listed or before[1]
        for loop, (waiters, rings) in loops.items():
            try:
                loop.call_soon_threadsafe(self._tell_inside, loop, waiters, rings)
            except RuntimeError:
                # The loop has closed, and its waiters are gone with it.
                self._ring(rings)

    def _tell_singly(
        self, group: Sequence[_Member], told: Iterable[tuple[_Member, Answered]], error: BaseException
    ) -> None:
        """After an error of our own: whoever is not answered waits for ever. No bell rings: the poll finds what is
        stored."""
        answers = {id(member): answer for member, answer in told}
        held = {id(member) for members in self._held.values() for member in members}
        failed = _again(error) if isinstance(error, Exception) else Unavailable()
        for member in group:
            if id(member) in held:
                continue
            waiter = [(member.told, answers.get(id(member), failed))]
            with contextlib.suppress(RuntimeError):
                # Else the loop has closed, and its waiter is gone with it.
                member.told.get_loop().call_soon_threadsafe(_set_all, waiter)

    def _tell_inside(
        self, loop: asyncio.AbstractEventLoop, waiters: Sequence[_Told], rings: dict[int, _Ring]
    ) -> None:
        _set_all(waiters)
        if rings:
            # After the callbacks of the futures, which were called for a moment ago.
            loop.call_soon(self._ring, rings)

    def _ring(self, rings: dict[int, _Ring]) -> None:
        for session, (upto, listed) in rings.items():
            try:
                self._bell.ring(session, upto=upto, news=listed)
            except Exception:
                # The rows are stored and their writers told; a lost ring costs half a second (``log.poll``).
                logger.exception("Ringing for session %s failed.", session)


def _all_answers(backend: Backend, group: Sequence[Append]) -> list[_Answer]:
    """One for each, whatever is raised: whoever is not answered waits for ever."""
    try:
        return _answers(backend, group)
    except BaseException as error:
        logger.exception("A group of appends failed.")
        return [_again(error) if isinstance(error, Exception) else Unavailable() for _ in group]


def _answers(backend: Backend, group: Sequence[Append]) -> list[_Answer]:
    """What becomes of each: all in one transaction, or, where that failed, each in one of its own."""
    try:
        return list(backend.write(group))
    except Exception as error:  # noqa: BLE001 - it is the answer
        if len(group) == 1 or backend.for_all(error):
            return [_again(error) for _ in group]
    answers: list[_Answer] = []
    locked: set[int] = set()
    for number, append in enumerate(group):
        if append.session_pk in locked:
            # It may be free by now, but those before it come first.
            answers.append(Locked())
            continue
        try:
            answers += backend.write([append])
        except Exception as error:  # noqa: BLE001 - it is the answer
            if backend.for_all(error):
                return [*answers, *(_again(error) for _ in group[number:])]
            answers.append(error)
        if isinstance(answers[-1], Locked):
            locked.add(append.session_pk)
    return answers


def _again(error: Exception) -> Exception:
    """The same error for one of several waiters: a raised one collects the traceback of whoever raises it."""
    if not isinstance(error, Error):
        return error
    copy = type(error)(*error.args)
    copy.__cause__ = error.__cause__
    return copy


def _set_all(told: Iterable[_Told]) -> None:
    for future, answer in told:
        # A cancelled one is done.
        if not future.done():
            _set(future, answer)


def _set(future: asyncio.Future[Stored], answer: Answered) -> None:
    if isinstance(answer, Stored):
        future.set_result(answer)
    else:
        future.set_exception(answer)


committer = Committer()
"""The committer of this process."""
