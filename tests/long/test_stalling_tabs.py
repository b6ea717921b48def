"""Tabs at two processes that stall, go away and come back while answers stream to them at full speed: each has at the
end what one has that never went away, and has had each row once and in order."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Callable

import pytest

from tests.faults.conftest import Lab, OwnRedis, make_lab, make_sibling, own_redis
from tests.visitor import Visitor

__all__ = ["make_lab", "make_sibling", "own_redis"]

pytestmark = [pytest.mark.postgres, pytest.mark.redis]

SAID = ("Count to three", "hello", "Tell 30 times at 200", "hello")
TABS = 10


async def wander(tab: Visitor, labs: list[Lab], dice: random.Random, is_over: asyncio.Event) -> None:
    """A tab of somebody on the way: sockets that are not read for a while, cut, and dialled elsewhere."""
    while not is_over.is_set():
        await asyncio.sleep(dice.random() * 0.3)
        match dice.randrange(4):
            case 0:
                wire = tab._wire
                assert wire is not None
                wire.transport.pause_reading()
                await asyncio.sleep(dice.random() * 0.5)
                wire.transport.resume_reading()
            case 1:
                await tab.drop()
                await asyncio.sleep(dice.random() * 0.2)
                await tab.connect(dice.choice(labs).server)
            case 2:
                await tab.hello()
        tab.check()


async def test_tabs_that_stall_and_come_back_have_what_others_have(
    postgres_url: str, own_redis: OwnRedis, make_lab: Callable[..., Lab], make_sibling: Callable[[Lab], Lab]
) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    environ = {"DATABASE_URL": postgres_url, "REDIS_URL": own_redis.url, "BEACH_PROCESSES": "2"}
    lab = await asyncio.to_thread(make_lab, environ)
    labs = [lab, await asyncio.to_thread(make_sibling, lab)]
    first = await (await Visitor.arrive(lab.server)).connect()
    tabs = [await first.tab(labs[number % 2].server).connect() for number in range(TABS)]
    is_over = asyncio.Event()
    wandering = [
        asyncio.create_task(wander(tab, labs, random.Random(seed + number), is_over))
        for number, tab in enumerate(tabs)
    ]
    for _ in range(3):
        for text in SAID:
            await first.say(text)
            await asyncio.sleep(0.2)
    # A message may join the turn that is at work: there are as many ends as there are.
    await first.until(lambda: first.page.text().count(SAID[0]) >= 3 and not first.busy, seconds=60)
    await asyncio.sleep(2)
    await first.until(lambda: not first.busy, seconds=60)
    is_over.set()
    await asyncio.gather(*wandering)
    for tab in tabs:
        await tab.until(lambda tab=tab: tab.seq >= first.seq)  # type: ignore[misc]
        assert tab.page.markup() == first.page.markup()
        await tab.drop()
    lab.log_is_gap_free()
    await first.drop()
