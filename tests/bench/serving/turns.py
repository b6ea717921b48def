"""Whole turns, from a person's message until they are settled."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial

from tests.bench.report import Target
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.client import Conversation, Socket, closing, connect_all, run, until
from tests.bench.serving.database import Kind
from tests.bench.serving.figures import late, ms, quantile
from tests.bench.serving.plan import PLAIN, Plan
from tests.bench.serving.processes import BenchError
from tests.bench.serving.server import Server
from tests.bench.serving.talking import Talk, message, say_all


def turn(bench: Bench) -> Iterator[Target]:
    """Processor time of a turn with one text; and everybody at once: half of them must not wait for all the others."""
    kinds: tuple[Kind, ...] = ("sqlite", "postgres")
    for kind in kinds:
        rows = [Row(f"turn, {kind}", "x 6 rows and 4 frames by hand", 6)]
        if kind == "sqlite":
            name = f"{bench.plan.queue} turns at once, p50 until settled"
            rows.append(Row(name, "x their processor time", 0.75))
        yield from bench.measure(rows, partial(_turn, bench, kind))


def _turn(bench: Bench, kind: Kind) -> list[Found]:
    plan, floor = bench.plan, bench.floors.turn(kind)
    with bench.site(kind).serving((PLAIN, plan.turns, 0), (PLAIN, plan.queue, 0)) as (server, (few, many)):
        cost, took = run(turn_cost(plan, server, few))
        found: list[Found] = [(cost / floor, f"{ms(cost)} against {ms(floor)}; settled {late(took)}")]
        if kind == "sqlite":
            waited = run(_at_once(server, many))
            found.append((quantile(waited, 0.5) / (cost * len(many)), f"settled {late(waited)}"))
    return found


async def turn_cost(plan: Plan, server: Server, talks: Sequence[Conversation]) -> tuple[float, list[float]]:
    """Everybody talks, and says the next thing when the last one has settled.

    Seconds of processor time of a turn, and how long each took."""
    heard: dict[Socket, Talk] = {}

    def hear(socket: Socket, frame: bytes) -> None:
        if socket in heard and heard[socket].hear(frame):
            say(socket)

    def say(socket: Socket) -> None:
        heard[socket].begin()
        socket.send(message("hello"))

    sockets = await connect_all(server.port, talks, hear)
    with closing(sockets):
        heard.update({one: Talk() for one in sockets})
        for one in sockets:
            say(one)
        await asyncio.sleep(plan.warm)
        for talk in heard.values():
            talk.took.clear()
        before = server.cpu()
        await asyncio.sleep(plan.seconds)
        await until(lambda: any(talk.took for talk in heard.values()), "a turn to settle")
        used = server.cpu() - before
        took = [seconds for talk in heard.values() for seconds in talk.took]
    if refused := [talk.refused for talk in heard.values() if talk.refused]:
        raise BenchError(f"A message was refused: {refused[0]}")
    return used / len(took), took


async def _at_once(server: Server, talks: Sequence[Conversation]) -> list[float]:
    heard: dict[Socket, Talk] = {}
    sockets = await connect_all(
        server.port, talks, lambda one, frame: None if one not in heard else heard[one].hear(frame)
    )
    with closing(sockets):
        heard.update({one: Talk() for one in sockets})
        await say_all(sockets, heard, "hello")
    return [seconds for talk in heard.values() for seconds in talk.took]
