"""The doorbell: tells listeners that a session has new rows, and runners that it has work. It carries no data.

Within a process listeners are called directly; a relay, where one is set, tells the other processes. A lost ring
costs latency, never a row: processes also poll (D46) and runners sweep.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

Listener = Callable[[], None]
WorkListener = Callable[[int], None]
Relay = Callable[[int, bool], None]


class Doorbell:
    """Thread-safe. Listeners run in the event loop in which they subscribed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[int, dict[Listener, asyncio.AbstractEventLoop]] = {}
        self._workers: dict[WorkListener, asyncio.AbstractEventLoop] = {}
        self.relay: Relay | None = None

    def listen(self, session: int, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` at each ring of ``session``; returns what ends that."""
        loop = asyncio.get_running_loop()
        with self._lock:
            self._listeners.setdefault(session, {})[listener] = loop

        def stop() -> None:
            with self._lock:
                listeners = self._listeners.get(session, {})
                listeners.pop(listener, None)
                if not listeners:
                    self._listeners.pop(session, None)

        return stop

    def on_work(self, listener: WorkListener) -> Callable[[], None]:
        """Call ``listener(session)`` when a session has something to run; returns what ends that."""
        with self._lock:
            self._workers[listener] = asyncio.get_running_loop()

        def stop() -> None:
            with self._lock:
                self._workers.pop(listener, None)

        return stop

    def watched(self) -> list[int]:
        with self._lock:
            return list(self._listeners)

    def ring(self, session: int, *, work: bool = False, relayed: bool = False) -> None:
        with self._lock:
            listeners = list(self._listeners.get(session, {}).items())
            workers = list(self._workers.items()) if work else []
        for listener, loop in listeners:
            _call(loop, listener)
        for worker, loop in workers:
            _call(loop, lambda worker=worker: worker(session))
        if self.relay is not None and not relayed:
            self.relay(session, work)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    if not loop.is_closed():
        try:
            loop.call_soon_threadsafe(function)
        except RuntimeError:
            # The loop closed between the question and the call; its listeners are gone with it.
            return


doorbell = Doorbell()
"""The doorbell of this process."""
