"""Background jobs that wait for an order and then update a surface at a pace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envelopes.errors import BeachError
from envelopes.registries.tools import ToolContext
from envelopes.types import JsonObject


@dataclass(frozen=True)
class Order:
    """``hz`` updates a second for ``seconds``, the first one at ``begins`` (of the monotonic clock)."""

    hz: float
    seconds: float
    begins: float


UpdatePart = Callable[[str], JsonObject]
"""Makes the part that puts a value on the surface."""

Waiting = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Order]"]


class Jobs:
    """All jobs of this process, by session, and what they have done."""

    def __init__(self) -> None:
        self.emitted = self.refused = 0
        self._waiting: dict[str, Waiting] = {}

    def waiting(self) -> int:
        return len(self._waiting)

    def order(self, sessions: Sequence[str], hz: float, seconds: float) -> None:
        """Set the jobs of these sessions off, spread over one period as independent ones would be.

        Raises KeyError for a session without a waiting job.
        """
        began = time.monotonic() + 0.1
        for number, session in enumerate(sessions):
            loop, waiting = self._waiting.pop(session)
            order = Order(hz, seconds, began + number / len(sessions) / hz)
            loop.call_soon_threadsafe(waiting.set_result, order)

    async def work(self, context: ToolContext, update: UpdatePart) -> None:
        """Follow orders for ever."""
        while True:
            loop = asyncio.get_running_loop()
            waiting: asyncio.Future[Order] = loop.create_future()
            self._waiting[context.session_id] = (loop, waiting)
            await self._follow(context, await waiting, update)

    async def _follow(self, context: ToolContext, order: Order, update: UpdatePart) -> None:
        for number in range(round(order.hz * order.seconds)):
            due = order.begins + number / order.hz
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if time.monotonic() > order.begins + order.seconds:
                return
            try:
                await context.emit(update(f"@{int(due * 1e9)}@{time.monotonic_ns()}@"))
            except BeachError:
                self.refused += 1
            else:
                self.emitted += 1


jobs = Jobs()
