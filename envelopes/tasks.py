"""Waiting for work, and ending it, within a bound: also for what takes a cancellation for something else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Unfinished(Exception):
    """Work that has no result: it took too long, or something inside of it gave up."""


async def within(work: Awaitable[T], *, seconds: float | None) -> T:
    """The result of ``work``; after ``seconds`` it is cancelled and left to itself. None waits as long as it takes.

    Not ``asyncio.wait_for``, which waits for the end of what it cancels. Raises what ``work`` raises, and
    ``Unfinished``.
    """
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        task.cancel()
        raise Unfinished(f"no end within {seconds:g} seconds")
    if task.cancelled():
        raise Unfinished("it was cancelled from inside")
    return task.result()


async def end(
    tasks: Iterable[asyncio.Task[Any]], *, seconds: float, again: float = 0.25
) -> set[asyncio.Task[Any]]:
    """Cancel ``tasks`` and wait at most ``seconds`` for their end; returns those that still run.

    Cancelled once more every ``again`` seconds: a library may take a cancellation for a timeout of its own and go on.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    left = {task for task in tasks if not task.done()}
    while left and (rest := deadline - loop.time()) > 0:
        for task in left:
            task.cancel()
        done, left = await asyncio.wait(left, timeout=min(again, rest))
        for task in done:
            if not task.cancelled() and (error := task.exception()) is not None:
                logger.error("A task failed as it ended.", exc_info=error)
    return left
