"""The doorbell: tells listeners that a session has new rows, and runners that it has work. It carries no data.

Within a process listeners are called directly; a relay, where one is set, tells the other processes. A lost ring
costs latency, never a row: processes also poll (D46) and runners sweep.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterable
from functools import partial

from envelopes.database_threads import call_in

Listener = Callable[[int | None], None]
SessionListener = Callable[[int], None]
Relay = Callable[[int, bool, bool], None]


class _Place:
    """The event loop and the context in which a listener subscribed.

    The context matters: a ring comes from a database thread, and what that thread's context says about the thread
    must not reach tasks that a listener starts.
    """

    __slots__ = ("context", "loop")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.context = contextvars.copy_context()

    def call_soon(self, function: Callable[[], None]) -> None:
        """Inside of the loop, which is awake."""
        self.loop.call_soon(function, context=self.context.copy())


_Called = tuple[_Place, Callable[[], None]]


def _call_all(called: Iterable[_Called]) -> None:
    """Each in its own context, and on its own: one that raises keeps nobody else from hearing."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Called]] = {}
    for place, function in called:
        by_loop.setdefault(place.loop, []).append((place, function))
    for loop, its_own in by_loop.items():
        if loop.is_closed():
            continue
        if asyncio._get_running_loop() is loop:
            _call_inside(its_own)
            continue
        # Waking a loop costs a system call, so it is woken once for all of its own. Where it has closed since it was
        # asked, its listeners are gone with it.
        call_in(loop, partial(_call_inside, its_own))


def _call_inside(called: Iterable[_Called]) -> None:
    for place, function in called:
        place.call_soon(function)


class Doorbell:
    """Thread-safe. Listeners run in the event loop in which they subscribed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[int, dict[Listener, _Place]] = {}
        self._workers: dict[SessionListener, _Place] = {}
        self._readers: dict[SessionListener, _Place] = {}
        self._answering: dict[SessionListener, _Place] = {}
        self.relay: Relay | None = None

    def listen(self, session: int, listener: Listener) -> Callable[[], None]:
        """Call ``listener(upto)`` at each ring of ``session``; returns what ends that.

        ``upto`` is the row up to which the log is known to go: whoever has that one need not look. None where whoever
        rang does not say.
        """
        with self._lock:
            self._listeners.setdefault(session, {})[listener] = _Place()
        return partial(self._forget, session, listener)

    def _forget(self, session: int, listener: Listener) -> None:
        with self._lock:
            listeners = self._listeners.get(session, {})
            listeners.pop(listener, None)
            if not listeners:
                self._listeners.pop(session, None)

    def on_work(self, listener: SessionListener) -> Callable[[], None]:
        """Call ``listener(session)`` when a session has something to run; returns what ends that."""
        with self._lock:
            self._workers[listener] = _Place()

        def stop() -> None:
            with self._lock:
                self._workers.pop(listener, None)

        return stop

    def on_news(self, listener: SessionListener) -> Callable[[], None]:
        """Call ``listener(session)`` when a session has changed in lists; returns what ends that."""
        with self._lock:
            self._readers[listener] = _Place()

        def stop() -> None:
            with self._lock:
                self._readers.pop(listener, None)

        return stop

    def on_calls(self, listener: SessionListener) -> Callable[[], None]:
        """Call ``listener(session)`` when a surface of a session has called functions of its agent, in this process;
        returns what ends that."""
        with self._lock:
            self._answering[listener] = _Place()

        def stop() -> None:
            with self._lock:
                self._answering.pop(listener, None)

        return stop

    def watched(self) -> list[int]:
        with self._lock:
            return list(self._listeners)

    def ring(
        self,
        session: int,
        *,
        upto: int | None = None,
        work: bool = False,
        news: bool = False,
        calls: bool = False,
        relayed: bool = False,
    ) -> None:
        """``upto``: the last row that is known. ``work``: it has something to run. ``news``: a list of sessions would
        show it otherwise than before. ``calls``: an agent's functions were called."""
        with self._lock:
            listeners = list(self._listeners.get(session, {}).items())
            told = list(self._workers.items()) if work else []
            told += list(self._readers.items()) if news else []
            told += list(self._answering.items()) if calls else []
        _call_all(
            [
                *((place, partial(listener, upto)) for listener, place in listeners),
                *((place, partial(teller, session)) for teller, place in told),
            ]
        )
        if self.relay is not None and not relayed:
            self.relay(session, work, news)


doorbell = Doorbell()
"""The doorbell of this process."""
