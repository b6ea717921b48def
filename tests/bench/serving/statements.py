"""What a turn asks of the database, counted where the database takes it (`app.counting`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tests.bench.report import Target
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.client import Conversation, closing, connect_all, run
from tests.bench.serving.database import Kind
from tests.bench.serving.plan import Plan
from tests.bench.serving.server import Server
from tests.bench.serving.talking import Talk, say_all

_FIRST = 3
"""Turns that are not counted."""
_AFTER_SECONDS = 0.5
"""What follows a settled turn belongs to it."""


@dataclass(frozen=True)
class Counted:
    """In so many seconds."""

    seconds: float
    statements: int
    transactions: int
    verbs: dict[str, int]


@dataclass(frozen=True)
class Asked:
    """``verbs``: by first word. A commit is counted for the one turn that runs, so a group's would be as well."""

    statements: float
    transactions: float
    verbs: dict[str, float]

    @property
    def about(self) -> str:
        return ", ".join(f"{verb} {count:.1f}" for verb, count in sorted(self.verbs.items()) if count >= 0.05)


def statements(bench: Bench) -> Iterator[Target]:
    """Of a turn with one text, and of one that makes a surface as well."""
    kinds: tuple[Kind, ...] = ("sqlite", "postgres")
    for kind in kinds:
        rows = [
            Row(f"statements, a text, {kind}", "a turn", 12),
            Row(f"transactions, a text, {kind}", "a turn", 3),
            Row(f"statements, a text and a surface, {kind}", "a turn", 16),
            Row(f"transactions, a text and a surface, {kind}", "a turn", 4),
        ]
        yield from bench.measure(rows, partial(_statements, bench, kind))


def _statements(bench: Bench, kind: Kind) -> list[Found]:
    with bench.site(kind).serving(environ={"BENCH_COUNT": "1"}) as (server, _):
        text, surface = run(_count(bench.plan, server, server.begin(), server.begin()))
    return [
        (text.statements, text.about),
        (text.transactions, ""),
        (surface.statements, surface.about),
        (surface.transactions, ""),
    ]


async def _count(plan: Plan, server: Server, plain: Conversation, surfaces: Conversation) -> list[Asked]:
    idle = await _between(server, lambda: asyncio.sleep(plan.idle))
    said: list[tuple[Conversation, Callable[[int], str]]] = [
        (plain, lambda _: "hello"),
        # A new id each turn: what is there already would be refused.
        (surfaces, lambda number: f"card 5 s{number}"),
    ]
    return [await _turns(plan.counted_turns, server, talk, words, idle) for talk, words in said]


async def _turns(
    count: int, server: Server, talk: Conversation, words: Callable[[int], str], idle: Counted
) -> Asked:
    heard = Talk()
    sockets = await connect_all(server.port, [talk], lambda _, frame: heard.hear(frame))

    async def say(numbers: range) -> None:
        for number in numbers:
            await say_all(sockets, {sockets[0]: heard}, words(number))
        await asyncio.sleep(_AFTER_SECONDS)

    with closing(sockets):
        await say(range(_FIRST))
        done = await _between(server, lambda: say(range(_FIRST, _FIRST + count)))
    return _less(done, idle, count)


async def _between(server: Server, work: Callable[[], Awaitable[None]]) -> Counted:
    """What was counted while `work` was done."""
    before, began = (await asyncio.to_thread(server.door))["database"], time.monotonic()
    await work()
    seconds, after = time.monotonic() - began, (await asyncio.to_thread(server.door))["database"]
    verbs = {verb: count - before["verbs"].get(verb, 0) for verb, count in after["verbs"].items()}
    return Counted(
        seconds,
        after["statements"] - before["statements"],
        after["transactions"] - before["transactions"],
        verbs,
    )


def _less(done: Counted, idle: Counted, turns: int) -> Asked:
    """Of one turn, without what the server asks in so much time when nothing happens."""
    times = done.seconds / idle.seconds
    return Asked(
        (done.statements - idle.statements * times) / turns,
        (done.transactions - idle.transactions * times) / turns,
        {verb: (count - idle.verbs.get(verb, 0) * times) / turns for verb, count in done.verbs.items()},
    )
