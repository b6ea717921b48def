"""What runs beside the sockets of a process: the runner, the poll of the log, the relay between processes.

Daphne sends no lifespan events, so this starts with the first request or socket, or from the server's start hook, and
is the same thing however it is started.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from envelopes.conf import conf
from envelopes.database_threads import database_threads
from envelopes.delivery.relay import Relay, relay_for_settings
from envelopes.log.commits import committer
from envelopes.log.poll import Poll
from envelopes.providers.clients import close_clients
from envelopes.registries.transports import Background, transports
from envelopes.runtime.indexing import Indexing
from envelopes.runtime.runner import Runner
from envelopes.runtime.warming import Warming
from envelopes.tasks import Unfinished, end, within

logger = logging.getLogger(__name__)

GOODBYE_SECONDS = 1.0
"""How long sockets may take to be told that the server is going."""

COMMITTER_SECONDS = 2.0
"""How long what was handed over may take to be stored; a locked database may not answer."""

START_SECONDS = CLIENTS_SECONDS = 1.0
"""How long a start that is under way, and connections to models, may take to end."""


DATABASE_SECONDS = 1.0
"""How long the database may take to answer what it was asked."""


class Process:
    """The background work of one event loop."""

    def __init__(self, *, runs_turns: bool) -> None:
        self.runner = Runner() if runs_turns else None
        # A transport's own work, and the search's, which is done once however many processes there are.
        self.beside: list[Background] = [
            each.background() for each in transports if runs_turns and each.background is not None
        ]
        if runs_turns:
            self.beside += [Indexing(), Warming()]
        self.poll = Poll()
        self.relay: Relay | None = relay_for_settings()
        self.loop = asyncio.get_running_loop()

    async def start(self) -> None:
        if self.relay is not None:
            await self.relay.start()
        await self.poll.start()
        if self.runner is not None:
            await self.runner.start()
        for work in self.beside:
            await work.start()

    async def stop(self) -> None:
        """Let go of everything: leases too, so that another process carries on at once.

        Each step has a bound, and one that fails does not keep the next from being made.
        """
        for work in self.beside:
            await _step("work beside the runner", work.stop())
        if self.runner is not None:
            await _step("runner", self.runner.stop())
        await _step("poll", self.poll.stop())
        # After everybody who appends.
        await _step("committer", _stop_committer())
        await _step("database", self._stop_threads())
        await _step("clients", close_clients(), CLIENTS_SECONDS)
        if self.relay is not None:
            # Last: it carries the rings that tell of the leases.
            await _step("relay", self.relay.stop())

    async def _stop_threads(self) -> None:
        if not await asyncio.to_thread(database_threads.stop, DATABASE_SECONDS):
            logger.warning("The database does not answer; what was asked of it is left to itself.")


async def _stop_committer() -> None:
    if not await asyncio.to_thread(committer.stop, COMMITTER_SECONDS):
        raise Unfinished(f"no end within {COMMITTER_SECONDS:g} seconds")


async def _step(name: str, work: Coroutine[Any, Any, None], seconds: float | None = None) -> None:
    try:
        await within(work, seconds=seconds)
    except Unfinished as error:
        logger.warning("The %s did not stop: %s; it is left to itself.", name, error)
    except Exception:
        logger.exception("The %s did not stop as it should.", name)


async def _said(goodbyes: list[asyncio.Task[None]]) -> None:
    for error in await asyncio.gather(*goodbyes, return_exceptions=True):
        if error is not None:
            logger.info("A socket was gone before it was told to come back: %r", error)


class _Running:
    """The one process object of the event loop in use; tests have one loop after another."""

    process: Process | None = None
    starting: asyncio.Task[None] | None = None
    # The loop whose process has been asked to end.
    ending: asyncio.AbstractEventLoop | None = None
    sockets: dict[Callable[[], Coroutine[Any, Any, None]], asyncio.AbstractEventLoop] = {}
    goodbyes: list[asyncio.Task[None]] = []


def ensure_started(*, runs_turns: bool | None = None) -> None:
    """Start the background work of this process's event loop, once, and not any more once it stops. Called inside the
    loop."""
    loop = asyncio.get_running_loop()
    if stopping() or (_Running.process is not None and _Running.process.loop is loop):
        return
    own = conf.BEACH_EXECUTOR == "inprocess" if runs_turns is None else runs_turns
    _Running.process = Process(runs_turns=own)
    _Running.starting = asyncio.create_task(_Running.process.start())
    _Running.starting.add_done_callback(_started)


def _started(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("The background work of this process did not start.", exc_info=task.exception())


def stopping() -> bool:
    """Whether this process has been asked to end. Called inside the loop."""
    return _Running.ending is asyncio.get_running_loop()


def begin_stopping() -> None:
    """The process has been asked to end: nothing starts any more, and open sockets are told to come back, to whoever
    is there then. Called inside the loop; ``shut_down`` follows."""
    if stopping():
        return
    loop = _Running.ending = asyncio.get_running_loop()
    logger.info("This process was asked to end.")
    _Running.goodbyes = [
        asyncio.create_task(leave()) for leave, place in _Running.sockets.items() if place is loop
    ]


def on_stopping(leave: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Run ``leave`` when the process is asked to end; returns what ends that."""
    _Running.sockets[leave] = asyncio.get_running_loop()
    return partial(_forget, leave)


def _forget(leave: Callable[[], Coroutine[Any, Any, None]]) -> None:
    _Running.sockets.pop(leave, None)


async def shut_down() -> None:
    """Stop what ``ensure_started`` started, within a bound."""
    process, starting, goodbyes = _Running.process, _Running.starting, _Running.goodbyes
    _Running.process = _Running.starting = None
    _Running.goodbyes = []
    if goodbyes:
        await _step("sockets", _said(goodbyes), GOODBYE_SECONDS)
    if starting is not None:
        await end([starting], seconds=START_SECONDS)
    if process is not None:
        await process.stop()
