"""Memory of the server: of a session, of a socket, and whether it grows under steady load."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial

from tests.bench.report import Target
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.client import Conversation, Socket, close_all, connect_all, run
from tests.bench.serving.figures import slope
from tests.bench.serving.load import Load
from tests.bench.serving.plan import SMALL, Plan
from tests.bench.serving.server import Server
from tests.bench.serving.talking import message

_REST_SECONDS = 1.0
_STEADY_SESSIONS, _STEADY_HZ = 10, 2.0
_SAMPLE_SECONDS = 15.0
_MIB = 2**20


def memory(bench: Bench) -> Iterator[Target]:
    """Resident bytes of a session with a small surface and its socket, and of a second socket on it."""
    rows = [
        Row("memory of a session with a small surface", "KiB", 60),
        Row("memory of a second socket", "KiB", 20),
        Row("memory of an idle server", "MiB", None),
    ]
    yield from bench.measure(rows, partial(_memory, bench))


def _memory(bench: Bench) -> list[Found]:
    count = bench.plan.held
    with bench.site("sqlite").serving((SMALL, 20, 0), (SMALL, count, 0)) as (server, (first, talks)):
        idle = server.resident()
        session, second = run(_held(server, first, talks))
    about = f"{count} of them"
    return [(session / 1024, about), (second / 1024, about), (idle / _MIB, "")]


async def _held(server: Server, first: list[Conversation], talks: list[Conversation]) -> tuple[float, float]:
    sockets = await connect_all(server.port, first)
    try:
        sizes = [server.resident()]
        for _ in range(2):
            sockets += await connect_all(server.port, talks)
            await asyncio.sleep(_REST_SECONDS)
            sizes.append(server.resident())
    finally:
        close_all(sockets)
    return (sizes[1] - sizes[0]) / len(talks), (sizes[2] - sizes[1]) / len(talks)


def steady(bench: Bench) -> Iterator[Target]:
    """How the server grows in the last two thirds of a long steady load."""
    for number in range(1, bench.plan.steady_runs + 1):
        row = Row(f"growth under steady load, run {number}", "MiB a minute", 0.02)
        yield from bench.measure([row], partial(_steady, bench))


def _steady(bench: Bench) -> list[Found]:
    plan = bench.plan
    if not plan.steady:
        return [(None, "--long")]
    with bench.site("sqlite").serving((SMALL, _STEADY_SESSIONS, 0)) as (server, (talks,)):
        points = run(_sampled(plan, server, talks))
    late = [(minutes, size) for minutes, size in points if minutes * 60 >= plan.steady / 3]
    about = f"{points[0][1]:.1f} MiB at the beginning, {points[-1][1]:.1f} at the end"
    return [(slope(late), about)]


async def _sampled(plan: Plan, server: Server, talks: list[Conversation]) -> list[tuple[float, float]]:
    """Minutes and MiB while surfaces are updated, people talk and pages are loaded again."""
    load = Load(server, plan)
    await load.connect(talks)
    guests: list[Socket] = []
    points: list[tuple[float, float]] = []
    try:
        order = {"sessions": [talk.id for talk in talks], "hz": _STEADY_HZ, "seconds": plan.steady}
        await asyncio.to_thread(lambda: server.door(**order))
        began = time.monotonic()
        while (passed := time.monotonic() - began) < plan.steady:
            points.append((passed / 60, server.resident() / _MIB))
            close_all(guests)
            pages = [await asyncio.to_thread(server.loaded, talk) for talk in talks[:3]]
            guests = await connect_all(server.port, pages)
            load.sockets[len(points) % len(talks)].send(message("hello"))
            await asyncio.sleep(_SAMPLE_SECONDS)
    finally:
        close_all([*guests, *load.sockets])
    return points
