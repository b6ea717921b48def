"""What sends webhooks beside the runner of a process: looks at the log, then sends what is due. No turn waits
for it."""

from __future__ import annotations

import asyncio
import logging
import time

import httpx

from envelopes.conf import conf
from envelopes.database_threads import beside_sessions
from envelopes.tasks import end
from envelopes.transports.documents.webhooks.reading_log import active, read_log
from envelopes.transports.documents.webhooks.sending import TIMEOUT_SECONDS, client, send_next
from envelopes.transports.documents.webhooks.sweeping import SWEPT_AT_ONCE, sweep

TIDY_SECONDS = 3_600.0
"""How often what is old is deleted."""

logger = logging.getLogger(__name__)


class Webhooks:
    """``start`` and ``stop`` belong to one event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.Task[None] | None = None
        self._sending: dict[int, asyncio.Task[None]] = {}
        self._client: httpx.AsyncClient | None = None
        self._tidy_at = 0.0

    async def start(self) -> None:
        """Begin; what is left from before is sent."""
        if self._loop is None:
            self._loop = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """End. An attempt that is under way is given up; another process makes it again."""
        if self._loop is None:
            return
        await end([self._loop, *self._sending.values()], seconds=TIMEOUT_SECONDS)
        self._loop = None
        self._sending.clear()
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _forever(self) -> None:
        while True:
            try:
                await self.once()
                await self._tidy()
            except asyncio.CancelledError:
                raise
            except Exception:
                logger.exception("Webhooks could not be looked at; the next look tries again.")
            await asyncio.sleep(conf.BEACH_WEBHOOK_SECONDS)

    async def once(self) -> None:
        """Look at the log for each subscription, and let each send beside the others: a slow one holds up none."""
        for subscription in await beside_sessions(active):
            while await beside_sessions(read_log, subscription):
                pass
            task = self._sending.get(subscription)
            if task is None or task.done():
                self._sending[subscription] = asyncio.create_task(self._send(subscription))

    async def _tidy(self) -> None:
        if time.monotonic() < self._tidy_at:
            return
        while await beside_sessions(sweep) >= SWEPT_AT_ONCE:
            pass
        self._tidy_at = time.monotonic() + TIDY_SECONDS

    async def _send(self, subscription: int) -> None:
        # Not before there is something to send: it reads the certificates of all authorities, which few processes need.
        self._client = self._client or client()
        try:
            while await send_next(self._client, subscription):
                pass
        except asyncio.CancelledError:
            raise
        except Exception:
            logger.exception("A webhook could not be sent; the next look tries again.")
