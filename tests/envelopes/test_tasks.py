"""Waiting within a bound for work that may not listen."""

from __future__ import annotations

import asyncio

import pytest

from envelopes.tasks import Unfinished, within


async def _done() -> int:
    return 7


async def _broken() -> int:
    raise KeyError("inside")


async def _gives_up() -> int:
    raise asyncio.CancelledError


async def test_work_gives_its_result_or_its_error() -> None:
    assert await within(_done(), seconds=None) == 7
    with pytest.raises(KeyError, match="inside"):
        await within(_broken(), seconds=5)
    with pytest.raises(Unfinished, match="cancelled"):
        await within(_gives_up(), seconds=5)


async def test_work_that_swallows_its_cancellation_is_not_waited_for() -> None:
    over = asyncio.Event()

    async def deaf() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    with pytest.raises(Unfinished, match=r"0\.01 seconds"):
        await asyncio.wait_for(within(deaf(), seconds=0.01), timeout=5)
    over.set()
    await asyncio.sleep(0)
