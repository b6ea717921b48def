"""Two processes on PostgreSQL with Redis between them: rings and streamed text travel, and Redis may be away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import psycopg
import pytest

from tests.faults.conftest import Lab, OwnRedis
from tests.visitor import Visitor

pytestmark = [pytest.mark.postgres, pytest.mark.redis]

# Tests ask for ``environ`` first: fixtures go in reverse, so servers end before the services that they use.

# What must come through the relay and not by polling.
SILENT = {"LAB_POLL_SECONDS": "3600"}


@pytest.fixture
def environ(postgres_url: str, own_redis: OwnRedis) -> dict[str, str]:
    return {"DATABASE_URL": postgres_url, "REDIS_URL": own_redis.url, "BEACH_PROCESSES": "2"}


@pytest.fixture
def attempts(postgres_url: str) -> Callable[[], list[int]]:
    def read() -> list[int]:
        with psycopg.connect(postgres_url) as connection:
            found = connection.execute("SELECT attempt FROM envelopes_turn ORDER BY id").fetchall()
            seqs = connection.execute(
                "SELECT count(*) = max(seq) FROM envelopes_event GROUP BY session_id"
            ).fetchall()
        assert all(whole for (whole,) in seqs), "the log has a gap"
        return [attempt for (attempt,) in found]

    return read


async def test_rings_and_streamed_text_reach_the_other_process(
    environ: dict[str, str],
    make_lab: Callable[..., Lab],
    make_sibling: Callable[[Lab], Lab],
    attempts: Callable[[], list[int]],
) -> None:
    lab = await asyncio.to_thread(make_lab, {**environ, **SILENT})
    other = await asyncio.to_thread(make_sibling, lab)
    here = await (await Visitor.arrive(lab.server)).connect()
    there = await here.tab(other.server).connect()
    lab.gates.shut("words")
    await here.say("Count to three")
    for tab in (here, there):
        await tab.until(
            lambda tab=tab: any("This sentence is the second" in text for text in tab.streamed.values())
        )
    lab.gates.open("words")
    await here.settles()
    await there.settles()
    for number in (2, 3):
        await there.say("hello")
        await here.settles(number)
        await there.settles(number)
    assert here.rows == there.rows
    assert here.page.markup() == there.page.markup()
    await there.is_as_reloaded()
    assert attempts() == [1, 1, 1]
    for tab in (here, there):
        await tab.drop()

    # Another conversation of the same person, at one process: the list on a page of the other one shows it.
    watching = await here.tab().connect()
    beside = await (await Visitor.arrive(other.server, cookies=here.cookies)).connect()
    await beside.say("hello")
    await watching.until(lambda: {"type": "sessions"} in watching.frames)
    for tab in (watching, beside):
        await tab.drop()


async def test_when_one_dies_the_other_takes_over(
    environ: dict[str, str],
    make_lab: Callable[..., Lab],
    make_sibling: Callable[[Lab], Lab],
    attempts: Callable[[], list[int]],
) -> None:
    lab = await asyncio.to_thread(make_lab, environ)
    other = await asyncio.to_thread(make_sibling, lab)
    here = await (await Visitor.arrive(lab.server)).connect()
    there = await here.tab(other.server).connect()
    lab.gates.shut("research")
    await here.say("Research Corfu for me")
    await lab.gates.wait("research")
    # Whichever of the two runs it, it moves on.
    await lab.kill()
    lab.gates.open("research")
    await there.settles()
    await here.drop()
    await lab.start()
    await here.connect()
    await here.until(lambda: here.seq == there.seq)
    assert here.page.markup() == there.page.markup()
    attempts()
    await there.is_as_reloaded()
    for tab in (here, there):
        await tab.drop()


async def test_without_redis_rows_still_show_and_with_it_again_text_streams_again(
    environ: dict[str, str],
    make_lab: Callable[..., Lab],
    make_sibling: Callable[[Lab], Lab],
    own_redis: OwnRedis,
) -> None:
    lab = await asyncio.to_thread(make_lab, environ)
    other = await asyncio.to_thread(make_sibling, lab)
    for one in (lab, other):
        # That Redis does not answer is logged, with its traceback.
        one.server.may_fail = True
    here = await (await Visitor.arrive(lab.server)).connect()
    there = await here.tab(other.server).connect()
    await asyncio.to_thread(own_redis.kill)
    await here.say("hello")
    await here.settles()
    await there.settles()

    await asyncio.to_thread(own_redis.start)
    for turn in range(2, 12):
        there.streamed.clear()
        await here.say("Count to three")
        await here.settles(turn)
        await there.settles(turn)
        if there.streamed and here.streamed:
            break
        await asyncio.sleep(1)
    else:
        raise AssertionError("no text streamed between the processes any more")
    await there.is_as_reloaded()
    for tab in (here, there):
        await tab.drop()


async def test_a_server_that_starts_while_redis_is_away_answers_all_the_same(
    environ: dict[str, str], make_lab: Callable[..., Lab], own_redis: OwnRedis
) -> None:
    await asyncio.to_thread(own_redis.kill)
    lab = await asyncio.to_thread(make_lab, environ)
    lab.server.may_fail = True
    here = await (await Visitor.arrive(lab.server)).connect()
    await here.say("hello")
    await here.settles()
    await here.is_as_reloaded()
    await here.drop()
