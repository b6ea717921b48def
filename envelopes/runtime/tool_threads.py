"""Threads in which plain functions run: each call has one of its own, and a process has so many.

A thread cannot be ended. One whose call is over and that goes on is ``left``: it counts until it ends, so that a tool
which hangs again and again fills the bound, which says so, and not the machine.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeAlias, TypeVar

from envelopes import metrics
from envelopes.conf import conf
from envelopes.errors import ToolFailed

logger = logging.getLogger(__name__)

WAIT_SECONDS = 10.0
"""How long a call waits for a thread, at most."""

P = ParamSpec("P")
T = TypeVar("T")


class NoThread(ToolFailed):
    """This server has no thread free for the tool, so it was not run. Try again in a while."""

    code = "no_thread"


class Slot(Executor):
    """A place among the threads of the process: it runs one function, in a thread of its own, and is free again.

    The thread is a daemon: who asked for the end of the process does not wait for it, as for those of
    ``ThreadPoolExecutor``.
    """

    def __init__(self, threads: ToolThreads) -> None:
        self._threads = threads
        self._is_left = False
        self.is_begun = self.is_free = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        told: Future[T] = Future()

        def work() -> None:
            if not told.set_running_or_notify_cancel():
                self.free()
                return
            try:
                result = fn(*args, **kwargs)
            except StopIteration as error:
                # What waits is a generator of Python's own, and would end by it.
                self.free()
                told.set_exception(RuntimeError(f"StopIteration: {error}"))
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                self.free()
                told.set_exception(error)
            else:
                self.free()
                told.set_result(result)

        threading.Thread(target=work, name="beach-tool", daemon=True).start()
        self.is_begun = True
        return told

    def leave(self) -> None:
        """Its call is over, and the thread goes on."""
        with self._threads.lock:
            if not self.is_free and not self._is_left:
                self._is_left = True
                self._threads.count_left(1)

    def free(self) -> None:
        """Once, from any thread."""
        with self._threads.lock:
            if self.is_free:
                return
            self.is_free = True
            if self._is_left:
                self._threads.count_left(-1)
            self._threads.count(-1)
            self._threads.hand_on()


_Asked: TypeAlias = "tuple[asyncio.AbstractEventLoop, asyncio.Future[Slot]]"


class ToolThreads:
    """The threads of a process. ``take`` gives places in the order in which they were asked for."""

    def __init__(self) -> None:
        # Of this class and its slots. Reentrant: a place that nobody takes any more is handed on at once.
        self.lock = threading.RLock()
        self.at_work = 0
        self.left = 0
        self._waiting: deque[_Asked] = deque()

    @property
    def is_exhausted(self) -> bool:
        """Whether every place is held by a thread that does not end."""
        return self.left >= conf.BEACH_TOOL_THREADS

    async def take(self, seconds: float | None) -> Slot:
        """A place, for which this waits ``WAIT_SECONDS``, or half of ``seconds``, the time of the call, where that is
        less; not at all where none can become free. Raises ``NoThread``."""
        with self.lock:
            if self.at_work < conf.BEACH_TOOL_THREADS and not self._waiting:
                return self._new()
            if self.is_exhausted:
                raise self._refused()
            loop = asyncio.get_running_loop()
            asked: _Asked = (loop, loop.create_future())
            self._waiting.append(asked)
            # More may have become allowed since.
            self.hand_on()
        patience = WAIT_SECONDS if seconds is None else min(WAIT_SECONDS, seconds / 2)
        slot: Slot | None = None
        try:
            done, _ = await asyncio.wait({asked[1]}, timeout=patience)
            slot = asked[1].result() if done else None
        finally:
            if slot is None:
                self._give_up(asked)
        if slot is None:
            raise self._refused()
        return slot

    def _give_up(self, asked: _Asked) -> None:
        with self.lock:
            if asked in self._waiting:
                self._waiting.remove(asked)
        if asked[1].done() and not asked[1].cancelled():
            asked[1].result().free()
        else:
            asked[1].cancel()

    def _refused(self) -> NoThread:
        most = conf.BEACH_TOOL_THREADS
        logger.error(
            "All %d threads for tools are taken, %d of them by calls that are over and do not end.",
            most,
            self.left,
        )
        return NoThread(limit="BEACH_TOOL_THREADS", allowed=most)

    def hand_on(self) -> None:
        """Within ``lock``: give places that are free to those who wait."""
        while self._waiting and self.at_work < conf.BEACH_TOOL_THREADS:
            loop, told = self._waiting.popleft()
            slot = self._new()
            try:
                loop.call_soon_threadsafe(_give, told, slot)
            except RuntimeError:
                # The loop has closed, and whoever waited there is gone.
                slot.is_free = True
                self.count(-1)

    def _new(self) -> Slot:
        self.count(1)
        return Slot(self)

    def count(self, more: int) -> None:
        self.at_work += more
        metrics.TOOL_THREADS.inc(more)

    def count_left(self, more: int) -> None:
        self.left += more
        metrics.TOOL_THREADS_LEFT.inc(more)


def _give(told: asyncio.Future[Slot], slot: Slot) -> None:
    if told.done():
        slot.free()
    else:
        told.set_result(slot)


tool_threads = ToolThreads()
