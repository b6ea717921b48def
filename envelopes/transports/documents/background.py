"""What this transport does beside the runner of a process: webhooks, and documents whose flag was switched."""

from __future__ import annotations

import asyncio

from envelopes.transports.documents.governance.background import Flags
from envelopes.transports.documents.webhooks.background import Webhooks


class Both:
    """``start`` and ``stop`` belong to one event loop."""

    def __init__(self) -> None:
        self.parts = (Webhooks(), Flags())

    async def start(self) -> None:
        """Begin both."""
        for part in self.parts:
            await part.start()

    async def stop(self) -> None:
        """End them, at once."""
        await asyncio.gather(*(part.stop() for part in self.parts))
