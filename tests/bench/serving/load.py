"""Background jobs that update a surface in each of many sessions, and what of it reaches the sockets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.serving.client import Conversation as Talk
from tests.bench.serving.client import Socket, connect_all, until
from tests.bench.serving.floors import STAMP
from tests.bench.serving.plan import Plan
from tests.bench.serving.processes import BenchError
from tests.bench.serving.server import Server
from tests.bench.serving.talking import message

_AT_ONCE = 50
_BEGIN_PATIENCE = 120.0
_DRAIN_SECONDS = 60.0


@dataclass(frozen=True)
class Carried:
    """``cost``: seconds of processor time of one update that was shown; ``late``: from when it was due until it was
    here; ``lost``: those that were emitted and never came; ``share``: of a core, used by the server."""

    cost: float
    a_second: float
    late: list[float]
    lost: int
    share: float


class Load:
    """Sessions with a job in each that waits for orders."""

    def __init__(self, server: Server, plan: Plan) -> None:
        self.server, self._plan = server, plan
        self.sockets: list[Socket] = []
        self._last: dict[Socket, int] = {}
        self._late: list[float] = []
        self._heard = 0

    async def connect(self, talks: Sequence[Talk]) -> None:
        """Open a socket on each, and start its job by saying so."""
        for at in range(0, len(talks), _AT_ONCE):
            sockets = await connect_all(self.server.port, talks[at : at + _AT_ONCE], self._hear)
            self.sockets += sockets
            self._last |= dict.fromkeys(sockets, 0)
            for one in sockets:
                one.send(message("tick"))
            await self._all_wait(_BEGIN_PATIENCE)

    def _hear(self, socket: Socket, frame: bytes) -> None:
        now = time.monotonic_ns()
        for due, sent in STAMP.findall(frame):
            # The same value may be shown again, in a larger fragment.
            if int(sent) > self._last[socket]:
                self._last[socket] = int(sent)
                self._heard += 1
                self._late.append((now - int(due)) / 1e9)

    async def carry(self, sockets: Sequence[Socket], hz: float) -> Carried:
        """Have the jobs of these sessions update `hz` times a second each. Raises BenchError for a refused update."""
        plan, server = self._plan, self.server
        self._heard = 0
        before = await asyncio.to_thread(server.door)
        order = {
            "sessions": [one.talk.id for one in sockets],
            "hz": hz,
            "seconds": plan.warm + plan.seconds + 0.2,
        }
        await asyncio.to_thread(lambda: server.door(**order))
        await asyncio.sleep(0.1 + plan.warm)
        self._late.clear()
        used, began = server.cpu(), time.monotonic()
        await asyncio.sleep(plan.seconds)
        await until(lambda: bool(self._late), "the first update", seconds=_DRAIN_SECONDS)
        used, took, late = server.cpu() - used, time.monotonic() - began, list(self._late)
        after = await self._all_wait(_DRAIN_SECONDS)
        if after["refused"] > before["refused"]:
            raise BenchError(f"{after['refused'] - before['refused']} updates were refused.")
        emitted = after["emitted"] - before["emitted"]
        return Carried(used / len(late), len(late) / took, late, await self._lost(emitted), used / took)

    async def _lost(self, emitted: int) -> int:
        end = time.monotonic() + _DRAIN_SECONDS
        while self._heard < emitted and time.monotonic() < end:  # noqa: ASYNC110  # many sockets count
            await asyncio.sleep(0.05)
        return emitted - self._heard

    async def _all_wait(self, seconds: float) -> dict[str, int]:
        """Until every job waits for an order; the counters then."""
        told: dict[str, int] = {}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            told = await asyncio.to_thread(self.server.door)
            if told["waiting"] == len(self.sockets):
                return told
            await asyncio.sleep(0.1)
        raise BenchError(
            f"Of {len(self.sockets)} jobs {told.get('waiting')} wait for orders after {seconds:g} s."
        )
