"""What sends mails about approvals beside the runner of a process. No turn and no session waits for it."""

from __future__ import annotations

import asyncio
import logging

from asgiref.sync import sync_to_async

from envelopes.conf import conf
from envelopes.database_threads import beside_sessions
from envelopes.tasks import end
from envelopes.transports.email.sending import claim_next, failed, queue_due, sent

LOOK_SECONDS = 2.0
"""The time between two looks for approvals that wait."""

logger = logging.getLogger(__name__)


class Mails:
    """``start`` and ``stop`` belong to one event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin."""
        if self._loop is None:
            self._loop = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """End. A mail that is being sent stays so: nobody knows whether it went out."""
        if self._loop is not None:
            await end([self._loop], seconds=5)
            self._loop = None

    async def _forever(self) -> None:
        while True:
            try:
                if conf.BEACH_APPROVAL_MAIL != "off":
                    await self.once()
            except asyncio.CancelledError:
                raise
            except Exception:
                logger.exception("Mails about approvals could not be looked at; the next look tries again.")
            await asyncio.sleep(LOOK_SECONDS)

    async def once(self) -> None:
        """Queue what is due, and send it, one after the other. The mail server is waited for outside of the database's
        threads."""
        await beside_sessions(queue_due)
        while (claimed := await beside_sessions(claim_next)) is not None:
            try:
                await sync_to_async(claimed.message.send, thread_sensitive=False)()
            except Exception as error:  # noqa: BLE001 - each backend has errors of its own
                await beside_sessions(failed, claimed.pk, error)
            else:
                await beside_sessions(sent, claimed.pk)
