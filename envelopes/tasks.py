"""Ending tasks: within a bound, also those that take a cancellation for something else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

logger = logging.getLogger(__name__)


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
