"""What runs beside the sockets of a process: the runner, the poll of the log, the relay between processes.

Daphne sends no lifespan events, so this starts with the first request or socket, or from the server's start hook, and
is the same thing however it is started.
"""

from __future__ import annotations

import asyncio
import logging
import sys

from django.conf import settings

from envelopes.delivery.relay import Relay, relay_for_settings
from envelopes.log.poll import Poll
from envelopes.runtime.runner import Runner

logger = logging.getLogger(__name__)


class Process:
    """The background work of one event loop."""

    def __init__(self, *, runs_turns: bool) -> None:
        self.runner = Runner() if runs_turns else None
        self.poll = Poll()
        self.relay: Relay | None = relay_for_settings()
        self.loop = asyncio.get_running_loop()

    async def start(self) -> None:
        if self.relay is not None:
            await self.relay.start()
        await self.poll.start()
        if self.runner is not None:
            await self.runner.start()

    async def stop(self) -> None:
        """Let go of everything: leases too, so that another process carries on at once."""
        if self.runner is not None:
            await self.runner.stop()
        await self.poll.stop()
        if "envelopes.providers.anthropic" in sys.modules:
            # Importing the SDK takes seconds; whoever never used it need not.
            await sys.modules["envelopes.providers.anthropic"].close_clients()
        if self.relay is not None:
            await self.relay.stop()


class _Running:
    """The one process object of the event loop in use; tests have one loop after another."""

    process: Process | None = None
    starting: asyncio.Task[None] | None = None


def ensure_started(*, runs_turns: bool | None = None) -> None:
    """Start the background work of this process's event loop, once. Called inside the loop."""
    loop = asyncio.get_running_loop()
    if _Running.process is not None and _Running.process.loop is loop:
        return
    own = (
        getattr(settings, "BEACH_EXECUTOR", "inprocess") == "inprocess" if runs_turns is None else runs_turns
    )
    _Running.process = Process(runs_turns=own)
    _Running.starting = asyncio.create_task(_Running.process.start())
    _Running.starting.add_done_callback(_started)


def _started(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("The background work of this process did not start.", exc_info=task.exception())


async def shut_down() -> None:
    """Stop what ``ensure_started`` started."""
    process, starting = _Running.process, _Running.starting
    _Running.process = _Running.starting = None
    if starting is not None:
        await asyncio.gather(starting, return_exceptions=True)
    if process is not None:
        await process.stop()


def current() -> Process | None:
    """What runs now, if anything."""
    return _Running.process
