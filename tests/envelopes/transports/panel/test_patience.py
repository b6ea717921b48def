"""A database that does not answer keeps the first handshakes waiting for a second, and the others not at all."""

from __future__ import annotations

import asyncio
from typing import Any

from envelopes.transports.panel.patience import Patience

SECONDS = 1_000.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def owed() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


async def begun(patience: Patience, answer: asyncio.Future[Any]) -> asyncio.Task[None]:
    """One who waits, unless they need not."""
    waiting = asyncio.create_task(patience.wait(answer))
    await asyncio.sleep(0)
    return waiting


async def test_an_answer_ends_the_wait_whatever_it_is() -> None:
    patience = Patience(SECONDS)
    for end in (lambda one: one.set_result(1), lambda one: one.set_exception(OSError())):
        answer = owed()
        waiting = await begun(patience, answer)
        assert not waiting.done()
        end(answer)
        await waiting
        answer.exception()


async def test_who_comes_when_the_database_has_owed_an_answer_for_so_long_does_not_wait() -> None:
    clock = Clock()
    patience = Patience(SECONDS, clock)
    first = await begun(patience, owed())
    clock.now = SECONDS / 2
    second = await begun(patience, owed())
    assert not second.done()
    clock.now = SECONDS
    for _ in range(100):
        assert (await begun(patience, owed())).done()
    for waiting in (first, second):
        waiting.cancel()


async def test_once_it_has_given_one_the_next_wait_again() -> None:
    clock = Clock()
    patience = Patience(SECONDS, clock)
    answer = owed()
    waiting = await begun(patience, answer)
    clock.now = SECONDS
    late = owed()
    assert (await begun(patience, late)).done()
    answer.set_result(None)
    await waiting
    next_one = await begun(patience, owed())
    assert not next_one.done()
    next_one.cancel()


async def test_who_went_away_is_no_answer() -> None:
    clock = Clock()
    patience = Patience(SECONDS, clock)
    gone, stays = owed(), owed()
    waiting = [await begun(patience, one) for one in (gone, stays)]
    clock.now = SECONDS
    gone.cancel()
    await waiting[0]
    assert (await begun(patience, owed())).done()
    waiting[1].cancel()
