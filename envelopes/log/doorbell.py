"""The doorbell: tells listeners that a session has new rows, and runners that it has work. It carries no data.

Within a process listeners are called directly; a relay, where one is set, tells the other processes. A lost ring
costs latency, never a row: processes also poll (D46) and runners sweep.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial

Listener = Callable[[], None]
SessionListener = Callable[[int], None]
Relay = Callable[[int, bool, bool], None]


class _Place:
    """The event loop and the context in which a listener subscribed.

    The context matters: a ring comes from a database thread, and what that thread's context says about the thread
    must not reach tasks that a listener starts.
    """

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.context = contextvars.copy_context()

    def call(self, function: Callable[[], None]) -> None:
        if self.loop.is_closed():
            return
        try:
            self.loop.call_soon_threadsafe(function, context=self.context.copy())
        except RuntimeError:
            # The loop closed between the question and the call; its listeners are gone with it.
            return


class Doorbell:
    """Thread-safe. Listeners run in the event loop in which they subscribed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[int, dict[Listener, _Place]] = {}
        self._workers: dict[SessionListener, _Place] = {}
        self._readers: dict[SessionListener, _Place] = {}
        self.relay: Relay | None = None

    def listen(self, session: int, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` at each ring of ``session``; returns what ends that."""
        with self._lock:
            self._listeners.setdefault(session, {})[listener] = _Place()

        def stop() -> None:
            with self._lock:
                listeners = self._listeners.get(session, {})
                listeners.pop(listener, None)
                if not listeners:
                    self._listeners.pop(session, None)

        return stop

    def on_work(self, listener: SessionListener) -> Callable[[], None]:
        """Call ``listener(session)`` when a session has something to run; returns what ends that."""
        with self._lock:
            self._workers[listener] = _Place()

        def stop() -> None:
            with self._lock:
                self._workers.pop(listener, None)

        return stop

    def on_news(self, listener: SessionListener) -> Callable[[], None]:
        """Call ``listener(session)`` when a session stands otherwise in lists; returns what ends that."""
        with self._lock:
            self._readers[listener] = _Place()

        def stop() -> None:
            with self._lock:
                self._readers.pop(listener, None)

        return stop

    def watched(self) -> list[int]:
        with self._lock:
            return list(self._listeners)

    def ring(self, session: int, *, work: bool = False, news: bool = False, relayed: bool = False) -> None:
        """``work``: it has something to run. ``news``: a list of sessions would show it otherwise than before."""
        with self._lock:
            listeners = list(self._listeners.get(session, {}).items())
            told = list(self._workers.items()) if work else []
            told += list(self._readers.items()) if news else []
        for listener, place in listeners:
            place.call(listener)
        for teller, place in told:
            place.call(partial(teller, session))
        if self.relay is not None and not relayed:
            self.relay(session, work, news)


doorbell = Doorbell()
"""The doorbell of this process."""
