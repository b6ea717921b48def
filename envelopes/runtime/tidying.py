"""What nobody will ask for any more, deleted a piece at a time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial

from envelopes import artifacts, intake, nonces, secrets
from envelopes.audit import ageing
from envelopes.database_threads import beside_sessions
from envelopes.log import trimming
from envelopes.records import retention
from envelopes.session_state.resumed import REPLAYED_ROWS

PURGE_SECONDS = 60.0
"""How often what has expired is deleted: secrets and nonces."""

TIDY_SECONDS = 3600.0
"""How often what is merely old is: answers to messages that no client sends again, deliveries that are not replayed,
and what settings give a time to: conversations, entries of the audit log, files that no message shows."""

KEPT_ROWS = 2 * REPLAYED_ROWS
"""How many rows of a log keep all of their deliveries: more than anybody is replayed."""


class Tidying:
    """When each was done last. ``quietly(name, work)`` runs a piece of work whose failure must not end the sweep."""

    def __init__(self, quietly: Callable[[str, Callable[[], Awaitable[object]]], Awaitable[None]]) -> None:
        self._quietly = quietly
        self._purge_at = self._tidy_at = 0.0

    async def sweep(self) -> None:
        """Delete what is due."""
        now = time.monotonic()
        if now >= self._purge_at:
            self._purge_at = now + PURGE_SECONDS
            await self._delete("secrets", secrets.purge, secrets.PURGED_AT_ONCE)
            await self._delete("nonces", nonces.purge, nonces.PURGED_AT_ONCE)
        if now >= self._tidy_at:
            self._tidy_at = now + TIDY_SECONDS
            await self._delete("deliveries", partial(trimming.trim, KEPT_ROWS), trimming.TRIMMED_AT_ONCE)
            await self._delete("files", artifacts.forget_unnamed, artifacts.FORGOTTEN_AT_ONCE)
            await self._delete("conversations", retention.retire, retention.RETIRED_AT_ONCE)
            await self._delete("audit entries", ageing.prune_old, ageing.PRUNED_AT_ONCE)
            await self._delete("messages", intake.forget_messages, intake.FORGOTTEN_AT_ONCE)

    async def _delete(self, name: str, delete: Callable[[], int], size: int) -> None:
        await self._quietly(f"deletion of {name}", partial(in_batches, delete, size))


async def in_batches(delete: Callable[[], int], size: int) -> None:
    """Until ``delete`` finds less than ``size``; whoever else needs the house's thread comes in between."""
    while await beside_sessions(delete) >= size:
        pass
