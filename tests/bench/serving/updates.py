"""Live updates of surfaces: what one costs, how many are carried, what makes them dearer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter

from tests.bench.report import Target
from tests.bench.serving.bench import Bench, Found, Row
from tests.bench.serving.client import Conversation, closing, run
from tests.bench.serving.climb import Climb
from tests.bench.serving.figures import late, ms, quantile, us
from tests.bench.serving.load import Carried, Load
from tests.bench.serving.plan import SMALL, Plan
from tests.bench.serving.server import Server

_TURNS = 3


def update(bench: Bench) -> Iterator[Target]:
    """Processor time from a job's emit to the frame."""
    for kind, cost in (("sqlite", partial(_climbed, bench)), ("postgres", partial(_postgres, bench))):
        row = Row(f"update, {kind}", "x row + engine + send", 6)
        yield from bench.measure([row], cost)


def _climbed(bench: Bench) -> list[Found]:
    return [_cost(bench.floors.update("sqlite"), bench.climb(Climb.first))]


def _postgres(bench: Bench) -> list[Found]:
    floor = bench.floors.update("postgres")
    with bench.site("postgres").serving((SMALL, bench.plan.updates, 0)) as (server, (talks,)):
        (carried,) = run(_in_groups(bench, server, [talks]))
    return [_cost(floor, carried)]


def _cost(floor: float, carried: Carried) -> Found:
    about = f"{us(carried.cost)} against {us(floor)}, the goal is 4x; {late(carried.late)}"
    return carried.cost / floor, about


def rate(bench: Bench) -> Iterator[Target]:
    """How many are carried a second, and how late they are at less than that."""
    for count in bench.plan.many:
        rows = [
            Row(f"carried, {count} sessions", "x 1 / cost of one", 0.9, least=True),
            Row(f"p99 at 80 % of it, {count} sessions", "ms", 100),
            Row(f"lost, {count} sessions", "updates", 0),
        ]
        yield from bench.measure(rows, partial(_rate, bench, count))
    row = Row(f"p99 of {bench.plan.late} x 1", "x (2 x bare consumer + 5 ms)", 1)
    yield from bench.measure([row], partial(_late, bench))


def _rate(bench: Bench, count: int) -> list[Found]:
    one = bench.climb(Climb.first).cost
    full, most = bench.climb(Climb.full(count)), bench.climb(Climb.most(count))
    p99 = quantile(most.late, 0.99) * 1e3
    return [
        (
            full.a_second * one,
            f"{full.a_second:,.0f} a second, {full.share:.0%} of a core; {late(full.late)}",
        ),
        (p99, f"{most.a_second:,.0f} a second; {late(most.late)}"),
        (full.lost + most.lost, "of both"),
    ]


def _late(bench: Bench) -> list[Found]:
    bare = quantile(bench.floors.send(bench.plan.late, 1).late, 0.99)
    carried = bench.climb(Climb.late)
    p99 = quantile(carried.late, 0.99)
    return [(p99 / (2 * bare + 0.005), f"{late(carried.late)}; bare consumer {ms(bare)}")]


def growth(bench: Bench) -> Iterator[Target]:
    """What an update costs beside a large surface, a long log, many sessions."""
    plan = bench.plan
    (small, large), (few, many) = plan.growth_items, plan.growth_sessions
    rows = [
        Row(f"update, list of {large} beside {small}", "x", 1.3),
        Row(f"update, log of {plan.growth_rows} rows beside a short one", "x", 1.3),
    ]
    yield from bench.measure(rows, partial(_by_size, bench))
    row = Row(f"update, {many} sessions beside {few}", "x", 1.3)
    yield from bench.measure([row], partial(_by_sessions, bench))


def _by_size(bench: Bench) -> list[Found]:
    plan = bench.plan
    large = (f"card {plan.growth_items[1]}", "hello")
    wanted = ((SMALL, plan.growth, 0), (large, plan.growth, 0), (SMALL, plan.growth, plan.growth_rows))
    with bench.site("sqlite").serving(*wanted) as (server, groups):
        base, surface, log = run(_in_groups(bench, server, groups))
    return [_compared(surface, base), _compared(log, base)]


async def _in_groups(bench: Bench, server: Server, groups: Sequence[Sequence[Conversation]]) -> list[Carried]:
    """All of them connected, one group updated after the other."""
    load = Load(server, bench.plan)
    parts = []
    for group in groups:
        await load.connect(group)
        parts.append(load.sockets[-len(group) :])
    with closing(load.sockets):
        return [await load.carry(part, bench.plan.updates_hz) for part in parts]


def _by_sessions(bench: Bench) -> list[Found]:
    site, (few, many) = bench.site("sqlite"), bench.plan.growth_sessions
    with site.serving((SMALL, few, 0)) as (one, (some,)), site.serving((SMALL, many, 0)) as (other, (all_,)):
        rounds = run(_in_turns(bench.plan, Load(one, bench.plan), some, Load(other, bench.plan), all_))
    compared = [(beside.cost / alone.cost, beside, alone) for alone, beside in rounds]
    ratio, beside, alone = sorted(compared, key=itemgetter(0))[len(compared) // 2]
    each = ", ".join(f"{found:.2f}" for found, _, _ in compared)
    return [(ratio, f"{us(beside.cost)} against {us(alone.cost)}; in turns {each}")]


async def _in_turns(
    plan: Plan, alone: Load, some: Sequence[Conversation], beside: Load, all_: Sequence[Conversation]
) -> list[tuple[Carried, Carried]]:
    """Two servers, each with the same updates in as many sessions, one of them with many more open: one right after the
    other, since a machine may be twice as fast a minute later."""
    count = len(some)
    hz = plan.updates * plan.updates_hz / count
    await alone.connect(some)
    await beside.connect(all_)
    with closing(alone.sockets), closing(beside.sockets):
        return [
            (await alone.carry(alone.sockets, hz), await beside.carry(beside.sockets[:count], hz))
            for _ in range(_TURNS)
        ]


def _compared(carried: Carried, base: Carried) -> Found:
    return carried.cost / base.cost, f"{us(carried.cost)} against {us(base.cost)}"
