"""Calling the function of a tool, for so long at most: an async one in the event loop, a plain one in a thread.

A thread cannot be ended. What is over for its turn is told so (``ToolContext.stopped``) and left to itself: it has no
voice any more (``abandoned``), and what it gives comes too late.
"""

from __future__ import annotations

import asyncio
import logging
import time

from envelopes.conf import conf
from envelopes.registries.tools import Tool
from envelopes.registries.written import is_async
from envelopes.runtime.tool_threads import tool_threads
from envelopes.runtime.trying import RunningContext, tried
from envelopes.types import Json

logger = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""How long an async tool that was told to end may take to do so."""


class Stopped(Exception):
    """The call was ended because its turn was. Whether it had taken effect is as unknown as after a crash (D19)."""


async def within(
    seconds: float | None,
    tool: Tool,
    context: RunningContext,
    args: object,
    stopped: asyncio.Event | None = None,
) -> Json:
    """Run ``tool``, again where it is to be tried again, for at most ``seconds`` together, and until ``stopped`` is
    set; raises ``TimeoutError``, ``Stopped``.

    Not ``wait_for``: it waits for the end of what it cancels, and a tool that catches that would hold its turn, and
    the server's own end, for ever.
    """
    began = time.monotonic()
    running = asyncio.create_task(tried(tool, context, args, None if seconds is None else began + seconds))
    stopping = asyncio.create_task(stopped.wait()) if stopped is not None else None
    awaited = {running} if stopping is None else {running, stopping}
    how = "stopped"
    try:
        done, _ = await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if running not in done:
            how = "stopped" if done else "timeout"
            raise Stopped if done else TimeoutError
        _look_for_blocking(tool, seconds, time.monotonic() - began)
        return running.result()
    finally:
        if stopping is not None:
            stopping.cancel()
        if not running.done():
            await _end(running, tool, context, how)


async def _end(running: asyncio.Task[Json], tool: Tool, context: RunningContext, how: str) -> None:
    slot = context.slot
    # Before it hears of it: whatever a thread says from here on comes too late.
    context.stopped = True
    context.abandoned = slot is not None and slot.is_begun and not slot.is_free
    running.cancel()
    if not context.abandoned:
        _, left = await asyncio.wait({running}, timeout=GRACE_SECONDS)
        context.abandoned = bool(left)
    elif slot is not None:
        slot.leave()
    if not context.abandoned:
        context.note(how)
        return
    context.note(how, left=True)
    logger.error("The tool %s does not end; it is left to itself.", tool.name)
    if tool_threads.left:
        logger.error("%d of %d threads for tools are held so.", tool_threads.left, conf.BEACH_TOOL_THREADS)


def _look_for_blocking(tool: Tool, seconds: float | None, took: float) -> None:
    """Nothing can interrupt an async function that blocks. It has ended by now, and its outcome is known."""
    if seconds is not None and took > seconds + 0.1 and is_async(tool.run):
        logger.error(
            "The tool %s blocked the event loop: it took %.1f of %g seconds. A plain function runs in a thread.",
            tool.name,
            took,
            seconds,
        )
