"""The runner of a process: claims turns, runs them as tasks, keeps their leases, carries on what others left (D47).

The socket only watches; closing a tab, a redeploy or ``kill -9`` does not lose a turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError, InterfaceError, close_old_connections

from envelopes import secrets
from envelopes.approvals.service import expire_due
from envelopes.conf import setting
from envelopes.errors import LeaseLost
from envelopes.log.append import JobFence
from envelopes.log.doorbell import doorbell
from envelopes.models import ToolCall
from envelopes.registries.actors import actors
from envelopes.runtime import calls, intake, steps, store, turns
from envelopes.runtime.executing import GRACE_SECONDS, execute
from envelopes.runtime.turn_run import TurnRun
from envelopes.tasks import Unfinished, end, within

logger = logging.getLogger(__name__)

TIDY_SECONDS = 3600
"""How often what nobody will ask for any more is deleted."""

TASKS_SECONDS = GRACE_SECONDS + 0.5
"""How long turns and jobs may take to end: as long as a tool that was told to, and a moment."""

RELEASE_SECONDS = 2.0
"""How long the database may take to free the leases."""


class Runner:
    """In-process executor. ``start`` and ``stop`` belong to one event loop."""

    def __init__(self, owner: str | None = None) -> None:
        self.owner = owner or store.process_name()
        self._runs: dict[int, TurnRun] = {}
        self._jobs: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._claiming: set[int] = set()
        self._again: set[int] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._deaf: Callable[[], None] | None = None
        self._stopping = False
        self._tidy_at = 0.0

    @property
    def started(self) -> bool:
        return bool(self._loops)

    async def start(self) -> None:
        if self._loops:
            return
        self._stopping = False
        self._deaf = doorbell.on_work(self.wake)
        self._loops = [asyncio.create_task(self._sweep()), asyncio.create_task(self._keep_leases())]

    async def stop(self) -> None:
        """Stop claiming, end the tasks, give the leases back: another process carries on at once."""
        self._stopping = True
        if self._deaf is not None:
            self._deaf()
        # Cancelled once: the second time would take a tool the time that it has to end in.
        left = await end([*self._loops, *self._tasks], seconds=TASKS_SECONDS, again=TASKS_SECONDS)
        if left:
            logger.error("%d tasks of the runner do not end; they are left to themselves.", len(left))
        self._loops.clear()
        await self._release()

    async def _release(self) -> None:
        """Give the leases back. A database that does not answer must not hold this up: they run out by themselves."""
        try:
            freed = await within(sync_to_async(store.release)(self.owner), seconds=RELEASE_SECONDS)
        except (DatabaseError, InterfaceError, Unfinished):
            seconds = setting("BEACH_LEASE_SECONDS")
            logger.exception("Leases could not be given back; they run out within %g seconds.", seconds)
            return
        for session in freed:
            doorbell.ring(session, work=True)

    async def idle(self) -> None:
        """Wait until nothing runs here; for tests and for a graceful stop."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))
            # A task that ends may wake the next one.
            await asyncio.sleep(0)

    def wake(self, session: int) -> None:
        """Something may be runnable in this session."""
        if self._stopping:
            return
        if session in self._claiming:
            self._again.add(session)
            return
        self._claiming.add(session)
        self._spawn(self._claim(session))

    async def _claim(self, session: int) -> None:
        try:
            # First what runs here already: after a sleep of the machine its lease has run out, and this runner would
            # take the turn away from itself.
            for run in [run for run in self._runs.values() if run.claim.session_pk == session]:
                await self._look_for_stop(run)
            claim = await sync_to_async(store.claim_next)(session, self.owner)
            # A claim that was made while the process began to stop is given back with the others.
            if claim is not None and not self._stopping:
                run = TurnRun(claim, self.owner, self._start_job)
                self._runs[claim.turn_pk] = run
                self._spawn(self._run(run))
        finally:
            self._claiming.discard(session)
            if session in self._again:
                self._again.discard(session)
                self.wake(session)

    async def _run(self, run: TurnRun) -> None:
        try:
            await run.run()
        except LeaseLost:
            logger.info("Turn %s is carried on elsewhere.", run.claim.turn_pk)
        except asyncio.CancelledError:
            raise
        except Exception:
            logger.exception("Turn %s failed.", run.claim.turn_pk)
            with contextlib.suppress(LeaseLost):
                await sync_to_async(steps.give_up)(
                    run.claim, "internal", "It is our fault and has been logged. Your messages are safe."
                )
        finally:
            if self._runs.get(run.claim.turn_pk) is run:
                del self._runs[run.claim.turn_pk]

    async def _look_for_stop(self, run: TurnRun) -> None:
        _, cancel = await sync_to_async(store.renew)(self.owner, [run.claim.turn_pk], [])
        if run.claim.turn_pk in cancel:
            run.cancelled.set()

    # -- background jobs ----------------------------------------------------------------------------------------

    def _start_job(self, call: ToolCall) -> None:
        self._jobs.add(call.pk)
        self._spawn(self._job(call, call.attempt))

    async def _job(self, call: ToolCall, attempt: int) -> None:
        try:
            turn = await sync_to_async(lambda: call.turn)()
            tool = actors[turn.actor].tool(call.name)
            if tool is None:
                gone = {"code": "tool_gone", "message": f"The tool {call.name!r} does not exist any more."}
                await sync_to_async(calls.finish_job)(call, attempt, "failed", None, gone)
                return
            outcome = await execute(tool, call, JobFence(call.pk, attempt))
            await sync_to_async(calls.finish_job)(call, attempt, *outcome)
        except LeaseLost:
            logger.info("Job %s is carried on elsewhere, or was stopped.", call.pk)
        finally:
            self._jobs.discard(call.pk)

    async def _take_over_job(self, call_pk: int) -> None:
        attempt = await sync_to_async(store.claim_job)(call_pk, self.owner)
        if attempt is None:
            return
        call = await sync_to_async(ToolCall.objects.select_related("turn", "approval").get)(pk=call_pk)
        if not calls.is_as_asked(call):
            logger.error("Job %s is not what was asked.", call_pk)
            await sync_to_async(calls.finish_job)(call, attempt, "failed", None, calls.CHANGED)
            return
        tool = actors[call.turn.actor].tool(call.name)
        if tool is not None and not tool.idempotent:
            await sync_to_async(calls.finish_job)(call, attempt, "unknown", None, turns.UNKNOWN)
            return
        self._jobs.add(call_pk)
        await self._job(call, attempt)

    # -- loops --------------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """At start and then regularly: expired approvals, queues nobody serves, leases nobody keeps."""
        while True:
            await self._quietly("sweep", self._sweep_once)
            await asyncio.sleep(setting("BEACH_SWEEP_SECONDS"))

    async def _sweep_once(self) -> None:
        # Each on its own: one approval that cannot be expired must not keep every queue of the site waiting.
        await self._quietly("expiry of approvals", sync_to_async(expire_due))
        await self._quietly("purge of secrets", sync_to_async(secrets.purge))
        if (now := time.monotonic()) >= self._tidy_at:
            self._tidy_at = now + TIDY_SECONDS
            await self._quietly("tidying", sync_to_async(intake.forget_messages))
        for session in await sync_to_async(store.runnable_sessions)():
            self.wake(session)
        for call_pk, _session in await sync_to_async(store.orphaned_jobs)():
            if call_pk not in self._jobs:
                self._spawn(self._take_over_job(call_pk))

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(setting("BEACH_LEASE_SECONDS") / 3)
            await self._quietly("leases", self._renew_once)

    async def _renew_once(self) -> None:
        runs = dict(self._runs)
        if not runs and not self._jobs:
            return
        held, cancel = await sync_to_async(store.renew)(self.owner, list(runs), list(self._jobs))
        for pk, run in runs.items():
            if pk in cancel or pk not in held:
                run.cancelled.set()

    async def _quietly(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        """One round of a loop. A database that is away for a moment must not end the loop; it is logged."""
        try:
            await work()
        except asyncio.CancelledError:
            raise
        except Exception:
            logger.exception("The runner's %s failed; it goes on.", name)
            await sync_to_async(close_old_connections)()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("A task of the runner failed.", exc_info=task.exception())
