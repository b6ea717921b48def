"""Whether a model is still heard of: one whose side keeps the connection awake may say nothing for ever."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from envelopes.errors import LeaseLost
from envelopes.providers.failures import SILENT, failed
from envelopes.runtime.calling import GRACE_SECONDS
from envelopes.tracing import LEFT

logger = logging.getLogger(__name__)

QUIET_SECONDS = 300.0
"""How long a model may say nothing, though its side keeps the connection awake."""

LOOK_SECONDS = 30.0
"""How often it is looked whether it has been that long."""


class Hearing:
    """One request to a model, which people call ``who``."""

    def __init__(self) -> None:
        self.who = "The model"
        self._is_silent = self._is_left = False
        self._at = time.monotonic()

    def heard(self) -> None:
        """Raises ``LeaseLost`` once nobody listens any more."""
        if self._is_left or self._is_silent:
            raise LeaseLost
        self._at = time.monotonic()

    async def until(self, asking: asyncio.Task[Any], stopping: asyncio.Task[Any]) -> None:
        """Returns when one of these is done. Raises ``ProviderError`` once nothing was heard for too long."""
        while not asking.done() and not stopping.done():
            quiet = time.monotonic() - self._at
            if quiet >= QUIET_SECONDS:
                self._is_silent = True
                raise failed(SILENT, self.who, kind="quiet")
            left = min(QUIET_SECONDS - quiet, LOOK_SECONDS)
            await asyncio.wait({asking, stopping}, timeout=left, return_when=asyncio.FIRST_COMPLETED)

    async def ends(self, asking: asyncio.Task[Any]) -> bool:
        """Cancel it, and tell whether it ends by that: a provider may take a cancellation for an error of its own, and
        whoever was stopped does not wait for it."""
        asking.cancel()
        done, _ = await asyncio.wait({asking}, timeout=GRACE_SECONDS)
        if not done:
            self._is_left = True
            asking.add_done_callback(_forget)
            logger.error("The stream of %s does not end; it is left to itself.", self.who)
        return bool(done)

    def ended(self, error: BaseException, early: str) -> str:
        """How the request ended that raised ``error`` in its own task (``tracing.ENDED``): ``early`` where its turn was
        ended before its time, whatever it raises then; "" where it has failed."""
        if early or isinstance(error, LeaseLost):
            return early or LEFT
        task = asyncio.current_task()
        is_told = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0
        # Else something inside the provider gave up.
        return LEFT if is_told and not self._is_silent else ""


def _forget(asking: asyncio.Task[Any]) -> None:
    """However it has ended at last, its turn was over."""
    if not asking.cancelled():
        asking.exception()
