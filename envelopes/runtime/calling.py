"""Calling the function of a tool, for so long at most: an async one in the event loop, a plain one in a thread.

A thread cannot be ended. What is over for its turn is left to itself: it has no voice any more (``abandoned``), and
what it gives comes too late.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from asgiref.sync import SyncToAsync
from django.db import connections

from envelopes.errors import ToolFailed
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json

logger = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
"""How long an async tool that was told to end may take to do so."""

P = ParamSpec("P")
T = TypeVar("T")


class Stopped(Exception):
    """The call was ended because its turn was. Whether it had taken effect is as unknown as after a crash (D19)."""


class Abandonable(ToolContext, Protocol):
    """A context whose tool may be left to itself: ``abandoned`` says that nobody listens to it any more."""

    abandoned: bool


async def within(
    seconds: float | None,
    tool: Tool,
    context: Abandonable,
    args: object,
    stopped: asyncio.Event | None = None,
) -> Json:
    """Run ``tool`` for at most ``seconds``, and until ``stopped`` is set; raises ``TimeoutError``, ``Stopped``.

    Not ``wait_for``: it waits for the end of what it cancels, and a tool that catches that would hold its turn, and
    the server's own end, for ever.
    """
    began = time.monotonic()
    running = asyncio.create_task(_run(tool, context, args))
    stopping = asyncio.create_task(stopped.wait()) if stopped is not None else None
    awaited = {running} if stopping is None else {running, stopping}
    try:
        done, _ = await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if running not in done:
            raise Stopped if done else TimeoutError
        _look_for_blocking(tool, seconds, time.monotonic() - began)
        return running.result()
    finally:
        if stopping is not None:
            stopping.cancel()
        if not running.done():
            await _end(running, tool, context)


async def _end(running: asyncio.Task[Json], tool: Tool, context: Abandonable) -> None:
    in_thread = not _is_async(tool.run)
    # Before it hears of it: whatever it says from here on comes too late.
    context.abandoned = in_thread
    running.cancel()
    if not in_thread:
        _, left = await asyncio.wait({running}, timeout=GRACE_SECONDS)
        context.abandoned = bool(left)
    if context.abandoned:
        logger.error("The tool %s does not end; it is left to itself.", tool.name)


def _look_for_blocking(tool: Tool, seconds: float | None, took: float) -> None:
    """Nothing can interrupt an async function that blocks. It has ended by now, and its outcome is known."""
    if seconds is not None and took > seconds + 0.1 and _is_async(tool.run):
        logger.error(
            "The tool %s blocked the event loop: it took %.1f of %g seconds. A plain function runs in a thread.",
            tool.name,
            took,
            seconds,
        )


async def _run(tool: Tool, context: Abandonable, args: object) -> Json:
    try:
        if _is_async(tool.run):
            result = tool.run(context, args)
        else:
            call = SyncToAsync(
                _in_thread, thread_sensitive=False, executor=cast("ThreadPoolExecutor", _OWN_THREAD)
            )
            result = await call(tool, context, args)
        return await result if inspect.isawaitable(result) else result
    except TimeoutError as error:
        raise ToolFailed(f"{tool.name} ran into a timeout. {error}".strip(), cause="timeout") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled it: let through, it would look as if this server went down, and be run again for ever.
        raise ToolFailed(f"{tool.name} broke off.", cause="cancelled") from error
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        # A library that calls sys.exit() must not end the server, and with the turn's next start the next one.
        logger.exception("The tool %s raised.", tool.name)
        raise ToolFailed(f"{tool.name} failed inside. It has been logged.") from error


def _is_async(run: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(run) or inspect.iscoroutinefunction(getattr(run, "__call__", None))  # noqa: B004


def _in_thread(tool: Tool, context: Abandonable, args: object) -> Any:
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


class _OwnThread(Executor):
    """A thread for each call, so that those that never end take none from others. As a daemon: who asked for the end of
    the process does not wait for them, as for those of ``ThreadPoolExecutor``."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        told: Future[T] = Future()

        def work() -> None:
            if not told.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except StopIteration as error:
                # What waits is a generator of Python's own, and would end by it.
                told.set_exception(RuntimeError(f"StopIteration: {error}"))
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                told.set_exception(error)
            else:
                told.set_result(result)

        threading.Thread(target=work, name="beach-tool", daemon=True).start()
        return told


_OWN_THREAD = _OwnThread()
