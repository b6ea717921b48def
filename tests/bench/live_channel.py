"""The live channel beside the panel's socket: ``python -m tests.bench.live_channel [--json] [--quick]``.

A job updates a small surface; everybody who follows its conversation gets each update. On one server there are two
conversations with the same rows and the same job: one that a hundred pages follow, and one that a hundred subscribers
of the live channel follow, whose every delivery is stored with its number; in turns, four minutes in all. Ratios
of rounds that follow each other; the goal is that none is above 1.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from tests.bench.report import JSON_FLAG, Target, show
from tests.bench.serving.client import (
    Conversation,
    LiveSocket,
    Socket,
    close_all,
    connect_all,
    run,
    until,
)
from tests.bench.serving.database import scratch_folder
from tests.bench.serving.figures import quantile
from tests.bench.serving.floors import STAMP
from tests.bench.serving.plan import SMALL
from tests.bench.serving.processes import BenchError
from tests.bench.serving.server import Server, Site, default_command
from tests.bench.serving.talking import message


@dataclass(frozen=True)
class Size:
    readers: int = 100
    hz: float = 10
    seconds: float = 4
    rounds: int = 16


@dataclass(frozen=True)
class Carried:
    """``cost``: seconds of processor time of one delivery to one reader; ``late``: from when it was due until it was
    here; ``held``: resident bytes of one reader more."""

    cost: float
    a_second: float
    late: list[float]
    held: float


async def carry(server: Server, talk: Conversation, kind: type[Socket], size: Size) -> Carried:
    """What ``kind`` of readers gets of a job that updates. Raises BenchError where some get less."""
    late: list[float] = []

    def hear(_: Socket, frame: bytes) -> None:
        if found := STAMP.search(frame):
            late.append((time.monotonic_ns() - int(found[1])) / 1e9)

    first = await connect_all(server.port, [talk] * 5, hear, kind)
    await asyncio.sleep(0.5)
    before = server.resident()
    sockets = first + await connect_all(server.port, [talk] * (size.readers - 5), hear, kind)
    await asyncio.sleep(1)
    held = (server.resident() - before) / (size.readers - 5)
    try:
        late.clear()
        counted = await asyncio.to_thread(server.door)
        used, began = server.cpu(), time.monotonic()
        order = {"sessions": [talk.id], "hz": size.hz, "seconds": size.seconds}
        await asyncio.to_thread(lambda: server.door(**order))
        await asyncio.sleep(size.seconds + 0.3)
        now = await asyncio.to_thread(server.door)
        while now["waiting"] < counted["waiting"]:
            now = await asyncio.to_thread(server.door)
        wanted = (now["emitted"] - counted["emitted"]) * size.readers
        await until(lambda: len(late) >= wanted, "the last delivery", seconds=60)
        used, took = server.cpu() - used, time.monotonic() - began
    finally:
        close_all(sockets)
    if len(late) != wanted:
        raise BenchError(f"{len(late)} deliveries came, of {wanted}.")
    return Carried(used / wanted, wanted / took, late, held)


async def begin(server: Server, talk: Conversation, kind: type[Socket], jobs: int) -> None:
    """Start the job of a conversation by the way that is measured there; there are ``jobs`` then."""
    (starter,) = await connect_all(server.port, [talk], kind=kind)
    value = {"action": "beach:message", "data": {"text": "tick"}}
    action = {"sessionId": talk.id, "type": "data:submit", "payload": value}
    starter.send({"type": "action", "payload": action} if kind is LiveSocket else message("tick"))
    while (await asyncio.to_thread(server.door))["waiting"] < jobs:  # noqa: ASYNC110  # of another process
        await asyncio.sleep(0.1)
    close_all([starter])


async def measured(
    server: Server, talks: dict[type[Socket], Conversation], size: Size
) -> dict[type[Socket], list[Carried]]:
    """Each kind on its conversation, in turns."""
    for jobs, (kind, talk) in enumerate(talks.items(), 1):
        await begin(server, talk, kind, jobs)
    found: dict[type[Socket], list[Carried]] = {kind: [] for kind in talks}
    order = list(found)
    for _ in range(size.rounds):
        for kind in order:
            found[kind].append(await carry(server, talks[kind], kind, size))
            await asyncio.sleep(0.5)
        order.reverse()
    return found


def paired(
    panel: list[Carried], live: list[Carried], figure: Callable[[Carried], float]
) -> tuple[float, float]:
    """The middle of what the rounds' ratios are, and how far it may be off: half of a box plot's notch (McGill, Tukey
    and Larsen, 1978), which holds for 95 of 100 runs. Two rounds of one kind differ by a quarter, as machines go."""
    ratios = [figure(ours) / figure(theirs) for theirs, ours in zip(panel, live, strict=True)]
    if len(ratios) < 2:
        return ratios[0], 0.0
    first, _, third = statistics.quantiles(ratios, n=4)
    return statistics.median(ratios), 1.57 * (third - first) / math.sqrt(len(ratios))


def rows(panel: list[Carried], live: list[Carried], size: Size) -> list[Target]:
    def middle(carried: list[Carried], figure: Callable[[Carried], float]) -> float:
        return statistics.median(map(figure, carried))

    def row(name: str, figure: Callable[[Carried], float], about: str) -> Target:
        ratio, noise = paired(panel, live, figure)
        return Target.at_most(name, ratio, "x panel", 1 + noise, f"1 and {noise:.2f} of noise; {about}")

    cost, our_cost = middle(panel, _cost), middle(live, _cost)
    p99, our_p99 = middle(panel, _p99), middle(live, _p99)
    sent = statistics.median(one.a_second for one in live)
    # Later rounds find room that earlier ones have left: the first says what a reader takes.
    held, our_held = panel[0].held, live[0].held
    return [
        row(
            f"a delivery to {size.readers} subscribers",
            _cost,
            f"{1 / our_cost:,.0f} against {1 / cost:,.0f} a second and core, {sent:,.0f} were sent",
        ),
        row("p99 of them", _p99, f"{our_p99 * 1e3:.1f} ms against {p99 * 1e3:.1f} ms"),
        Target.at_most(
            "memory of a subscriber",
            our_held / held,
            "x panel",
            1,
            f"{our_held / 1024:.1f} KiB against {held / 1024:.1f} KiB",
        ),
    ]


def _cost(one: Carried) -> float:
    return one.cost


def _p99(one: Carried) -> float:
    return quantile(one.late, 0.99)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.live_channel", description=__doc__)
    parser.add_argument(JSON_FLAG, action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--quick", action="store_true", help="does it run?")
    arguments = parser.parse_args()
    size = Size(readers=20, hz=5, seconds=1, rounds=1) if arguments.quick else Size()
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        site = Site("sqlite", folder, default_command(), {}, stack)
        with site.serving((SMALL, 2, 0)) as (server, ((one, other),)):
            found = run(measured(server, {Socket: one, LiveSocket: other}, size))
    sys.stdout.write(show(rows(found[Socket], found[LiveSocket], size), as_json=arguments.json) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
