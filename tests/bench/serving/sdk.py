"""Replies of the real SDK, which reads a loopback API: from the model's byte to the browser's frame."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

from tests.bench.report import Target
from tests.bench.serving.api import ApiServer
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.client import Conversation, Socket, closing, connect_all, run, until
from tests.bench.serving.figures import late, quantile, us
from tests.bench.serving.plan import PLAIN, Plan
from tests.bench.serving.processes import SERVER_CORE, clean_environment
from tests.bench.serving.processes import run as run_command
from tests.bench.serving.server import Server
from tests.bench.serving.streams import Ear
from tests.bench.serving.talking import message

HZ = 50
"""Tokens a second of one stream."""
SHARE, HALF_MS, NEARLY_ALL_MS = 0.6, 6, 40
"""Most of a core, and p50 and p99 of the first byte, under which streams count as carried."""
_LEAD_SECONDS = 30.0
_SPREAD_SECONDS = 2.0
_TURNS = 3


@dataclass(frozen=True)
class Read:
    """``cost``: seconds of processor time a token; ``first``, ``late``: seconds from a byte's writing until it was
    here."""

    streams: int
    cost: float
    share: float
    first: list[float]
    late: list[float]

    @property
    def easy(self) -> bool:
        half, nearly_all = (quantile(self.first, share) * 1e3 for share in (0.5, 0.99))
        return self.share < SHARE and half <= HALF_MS and nearly_all <= NEARLY_ALL_MS

    @property
    def about(self) -> str:
        return f"{self.streams} at {self.share:.0%} of a core; first byte {late(self.first)}; all {late(self.late)}"


def sdk(bench: Bench) -> Iterator[Target]:
    """Processor time beside the SDK alone, and how many streams a core carries."""
    count = bench.plan.sdk_streams[0]
    rows = [
        Row(f"SDK, {count} x {HZ} tokens/s, processor time", "x SDK alone", 1.6),
        Row(f"SDK, most streams under {SHARE:.0%} of a core", "streams", None),
    ]
    yield from bench.measure(rows, partial(_sdk, bench))


def _sdk(bench: Bench) -> list[Found]:
    plan, (count, *more) = bench.plan, bench.plan.sdk_streams
    with ApiServer(bench.folder / "api.log") as api:
        # In turns: a machine may be twice as fast a minute later.
        rounds = [(_alone(api, count, plan), _read(bench, api, count)) for _ in range(_TURNS)]
        compared = sorted(((read.cost / alone, alone, read) for alone, read in rounds), key=itemgetter(0))
        ratio, alone, first = compared[len(compared) // 2]
        best, told = (first if first.easy else None), first.about
        for number in more:
            found = _read(bench, api, number)
            told = f"{told}; {found.about}"
            if not found.easy:
                break
            best = found
    each = ", ".join(f"{read.cost / alone:.2f}" for alone, read in rounds)
    about = f"{us(first.cost)} against {us(alone)} a token; in turns {each}; {first.about}"
    return [(ratio, about), (best.streams if best else 0, told)]


def _alone(api: ApiServer, count: int, plan: Plan) -> float:
    numbers = [str(count), f"{HZ}", f"{_SPREAD_SECONDS:g}", f"{plan.warm:g}", f"{plan.seconds:g}"]
    command = [sys.executable, "-m", "tests.bench.serving.sdk_alone", api.url, *numbers]
    return float(json.loads(run_command(command, clean_environment({}), core=SERVER_CORE))["cost"])


def _read(bench: Bench, api: ApiServer, count: int) -> Read:
    environ = {"ANTHROPIC_BASE_URL": api.url}
    with bench.site("sqlite").serving((PLAIN, count + 1, 0), environ=environ) as (server, (talks,)):
        return run(_measured(bench.plan, server, talks[1:], talks[0]))


async def _measured(plan: Plan, server: Server, talks: Sequence[Conversation], other: Conversation) -> Read:
    ears: dict[Socket, Ear] = {}

    def hear(socket: Socket, frame: bytes) -> None:
        if socket in ears:
            ears[socket].hear(frame)

    sockets = await connect_all(server.port, [other, *talks], hear)
    with closing(sockets):
        ears.update({one: Ear() for one in sockets})
        # The first turn of a process imports the SDK, which takes seconds.
        warming, *reading = sockets
        warming.send(message(f"sdk 0.1 {HZ}"))
        await until(lambda: bool(ears[warming].last), "the first reply", seconds=_LEAD_SECONDS)
        for one in reading:
            one.send(message(f"sdk {_LEAD_SECONDS + plan.warm + plan.seconds:g} {HZ}"))
            # People do not all ask at once.
            await asyncio.sleep(_SPREAD_SECONDS / len(reading))
        await until(
            lambda: all(ears[one].last for one in reading), "the first byte of each", seconds=_LEAD_SECONDS
        )
        first = [ears[one].late[0] for one in reading]
        await asyncio.sleep(plan.warm)
        for one in reading:
            ears[one].restart()
        used, began = server.cpu(), time.monotonic()
        await asyncio.sleep(plan.seconds)
        used, took = server.cpu() - used, time.monotonic() - began
        waits = [wait for one in reading for wait in ears[one].late]
    return Read(len(talks), used / max(1, len(waits)), used / took, first, waits)
