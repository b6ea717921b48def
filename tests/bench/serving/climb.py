"""More and more sessions at one server, each step measured: connecting a thousand takes longer than measuring them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from tests.bench.serving.client import Conversation, close_all
from tests.bench.serving.load import Carried, Load
from tests.bench.serving.plan import Plan
from tests.bench.serving.server import Server

OVERLOAD = 1.25
"""Times what the cost of one update lets through."""
EASY = 0.8


class Climb:
    """The names of the steps."""

    first = "the first sessions"
    """At the pace at which floors are measured."""
    late = "one update a second"

    @staticmethod
    def full(count: int) -> str:
        """More than can be carried."""
        return f"{count} sessions, overloaded"

    @staticmethod
    def most(count: int) -> str:
        """Less than was carried then."""
        return f"{count} sessions, at {EASY:.0%}"


async def climb(
    plan: Plan, server: Server, talks: Sequence[Conversation]
) -> AsyncGenerator[tuple[str, Carried], None]:
    """Each step with what was measured at it, in the order of how many sessions it takes."""
    load = Load(server, plan)
    try:
        await load.connect(talks[: plan.updates])
        first = await load.carry(load.sockets, plan.updates_hz)
        yield Climb.first, first
        for count in sorted({plan.late, *plan.many}):
            await load.connect(talks[len(load.sockets) : count])
            if count == plan.late:
                yield Climb.late, await load.carry(load.sockets[:count], 1)
            if count in plan.many:
                full = await load.carry(load.sockets[:count], OVERLOAD / first.cost / count)
                yield Climb.full(count), full
                yield Climb.most(count), await load.carry(load.sockets[:count], EASY * full.a_second / count)
    finally:
        close_all(load.sockets)
