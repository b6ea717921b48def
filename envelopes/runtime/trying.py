"""The tries of one call: as many as its tool declares, each recorded, within the time of the call.

Whoever cancels the task that tries, because the call was stopped or its time is over, ends a wait as well.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from asgiref.sync import SyncToAsync
from django.db import connections

from envelopes.errors import LeaseLost, ToolFailed
from envelopes.registries.tools import Tool, ToolContext
from envelopes.registries.written import is_async
from envelopes.runtime.tool_threads import NoThread, Slot, tool_threads
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)


class BrokeOff(ToolFailed):
    """The tool ended by what is no exception, such as ``sys.exit()``: no fault that passes by itself."""


@dataclass(kw_only=True)
class Running:
    """What is known of a call that runs, beside what its tool may do.

    ``stopped``: nobody waits for it any more. ``abandoned``: nobody listens to it either: it did not end when it
    had to. ``tries``: one entry for each run of its function, ``{seconds, ended, error?, waited?, left?}``, for staff.
    Of an exception it has the class: its words may hold what nobody may keep.
    """

    stopped: bool = False
    abandoned: bool = False
    tries: list[JsonObject] = field(default_factory=list)
    slot: Slot | None = None
    # When the function that runs now was begun, as time.monotonic() has it.
    began: float | None = None

    def note(self, ended: str, **facts: Json) -> None:
        """The end of the function that runs now. Only the first one counts."""
        if self.began is not None:
            seconds = round(time.monotonic() - self.began, 3)
            self.tries.append({"seconds": seconds, "ended": ended, **facts})
            self.began = None


class RunningContext(ToolContext, Protocol):
    """A ``ToolContext`` that is a ``Running``."""

    abandoned: bool
    tries: list[JsonObject]
    slot: Slot | None
    began: float | None

    def note(self, ended: str, **facts: Json) -> None: ...


async def tried(tool: Tool, context: RunningContext, args: object, deadline: float | None) -> Json:
    """The result of ``tool``, or the exception of its last try. ``deadline``, as time.monotonic() has it, is when the
    time of the call is over."""
    failed = 0
    while True:
        left = None if deadline is None else deadline - time.monotonic()
        try:
            return await _try(tool, context, args, left)
        except NoThread:
            raise
        except Exception as error:
            failed += 1
            wait = _wait(tool, error, failed, deadline)
            if wait is None:
                raise _told(tool, error) from error
        context.tries[-1]["waited"] = wait
        logger.warning("The tool %s has failed (try %d); again in %g seconds.", tool.name, failed, wait)
        await asyncio.sleep(wait)


def _wait(tool: Tool, error: Exception, failed: int, deadline: float | None) -> float | None:
    """Seconds until the next try; None where there is none."""
    retry = tool.retry
    if (
        retry is None
        or failed > retry.times
        or not isinstance(error, retry.on)
        or isinstance(error, LeaseLost | BrokeOff)
    ):
        return None
    wait = retry.pause(failed)
    return wait if deadline is None or time.monotonic() + wait < deadline else None


async def _try(tool: Tool, context: RunningContext, args: object, left: float | None) -> Json:
    if not is_async(tool.run):
        context.slot = await tool_threads.take(left)
    context.began = time.monotonic()
    try:
        result = await _called(tool, context, args)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled it: let through, it would look as if this server went down, and be run again for ever.
        context.note("raised", error="CancelledError")
        raise BrokeOff(f"{tool.name} broke off.", cause="cancelled") from error
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Exception as error:
        context.note("raised", error=type(error).__name__)
        raise
    except BaseException as error:
        # A library that calls sys.exit() must not end the server, and with the turn's next start the next one.
        logger.exception("The tool %s raised.", tool.name)
        context.note("raised", error=type(error).__name__)
        raise BrokeOff(f"{tool.name} failed inside. It has been logged.") from error
    context.note("returned")
    return result


async def _called(tool: Tool, context: RunningContext, args: object) -> Any:
    slot = context.slot
    if slot is None:
        result = tool.run(context, args)
    else:
        call = SyncToAsync(_in_thread, thread_sensitive=False, executor=cast("Any", slot))
        try:
            result = await call(tool, context, args)
        finally:
            context.slot = None
            if not slot.is_begun:
                slot.free()
    return await result if inspect.isawaitable(result) else result


def _in_thread(tool: Tool, context: RunningContext, args: object) -> Any:
    try:
        result = tool.run(context, args)
    except BaseException:
        if not context.abandoned:
            raise
        logger.warning("The tool %s raised when its time was over.", tool.name, exc_info=True)
        return None
    finally:
        # Nobody else has them, and the thread ends.
        connections.close_all()
    if context.abandoned:
        logger.warning("The tool %s ended when its time was over; its result is dropped.", tool.name)
    return result


def _told(tool: Tool, error: Exception) -> Exception:
    if isinstance(error, TimeoutError):
        return ToolFailed(f"{tool.name} ran into a timeout. {error}".strip(), cause="timeout")
    return error
