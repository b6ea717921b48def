"""Loading what models need as a process starts, so that nobody's first turn waits for it: an SDK takes seconds."""

from __future__ import annotations

import asyncio
import logging

from envelopes.registries.actors import actors
from envelopes.tasks import end

logger = logging.getLogger(__name__)

END_SECONDS = 1.0


class Warming:
    """``start`` and ``stop`` belong to one event loop."""

    def __init__(self) -> None:
        self._work: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin; turns that come meanwhile are run, and load for themselves what is not there yet."""
        if self._work is None:
            self._work = asyncio.create_task(warm())

    async def stop(self) -> None:
        if self._work is not None:
            await end([self._work], seconds=END_SECONDS)
            self._work = None


async def warm() -> None:
    """Make the provider of each actor once, in a thread since that may import its SDK, and let it load the rest."""
    done: set[tuple[str, str]] = set()
    for actor in list(actors):
        try:
            provider = await asyncio.to_thread(actor.provider)
            known = (provider.name, provider.model)
            load = getattr(provider, "warm", None)
            if load is not None and known not in done:
                await load()
            done.add(known)
        except Exception:
            # Whoever talks to that agent is told; here it is only known earlier.
            logger.exception("The model of %s could not be made ready.", actor.name)
