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

from django.db import DatabaseError, InterfaceError

from envelopes import tracing
from envelopes.approvals.service import due_approvals, expire
from envelopes.conf import conf
from envelopes.database_threads import beside_sessions, database_threads, in_session, later_in_session
from envelopes.errors import LeaseLost
from envelopes.log.commits import committer
from envelopes.log.doorbell import doorbell
from envelopes.runtime.answering import Answering
from envelopes.runtime.calling import GRACE_SECONDS
from envelopes.runtime.due import Due
from envelopes.runtime.jobs import Jobs
from envelopes.runtime.kept_places import KeptPlaces
from envelopes.runtime.pacing import Pacer
from envelopes.runtime.saving import LiveSaver
from envelopes.runtime.tidying import Tidying
from envelopes.runtime.turn_run import TurnRun
from envelopes.tasks import Unfinished, end, within
from envelopes.tracing import span
from envelopes.turns import leases, renewing, steps, sweeping

logger = logging.getLogger(__name__)

TASKS_SECONDS = GRACE_SECONDS + 0.5
"""How long turns and jobs may take to end: as long as a tool that was told to, and a moment."""

CLAIMS_SECONDS = 1.0
"""How long claims that are under way may take to be stored."""

RELEASE_SECONDS = 2.0
"""How long the database may take to free the leases."""


class Runner:
    """In-process executor. ``start`` and ``stop`` belong to one event loop. ``now`` gives seconds since 1970: by it
    the time of turns is up, or comes."""

    def __init__(self, owner: str | None = None, *, now: Callable[[], float] = time.time) -> None:
        self.owner = owner or leases.process_name()
        self.now = now
        self.saver = LiveSaver()
        self.pacer = Pacer()
        # By session: the newest, since one that is over may not have heard of it when the next one begins.
        self._runs: dict[int, TurnRun] = {}
        self._jobs = Jobs(self.owner, self._spawn)
        self._expiring: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._claiming: set[int] = set()
        # Woken after they were looked at to be claimed, or while a turn of theirs runs here.
        self._again: set[int] = set()
        self._owed: set[int] = set()
        # Woken while so many turns ran that no more may, in the order in which their turns were opened.
        self._waiting: dict[int, None] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._deaf: list[Callable[[], None]] = []
        self._kept = KeptPlaces(self.owner, self._has_room, self._take, self._given_back)
        self._answering = Answering(self.owner, self._spawn)
        self._due = Due(self._spawn, self._clock)
        self._stopping = False
        self._tidying = Tidying(self._quietly)

    @property
    def started(self) -> bool:
        return bool(self._loops)

    async def start(self) -> None:
        if self._loops:
            return
        self._stopping = False
        # What tools say goes through it; a process that was here before may have stopped it.
        committer.start()
        self.saver.start()
        self._deaf = [
            doorbell.on_work(self.wake),
            doorbell.on_calls(self._answering.wake),
            self._kept.offer(),
        ]
        self._loops = [asyncio.create_task(self._sweep()), asyncio.create_task(self._keep_leases())]

    async def stop(self) -> None:
        """Stop claiming, end the tasks, give the leases back: another process carries on at once."""
        # Whoever keeps a place keeps it before this, and is waited for below, or gets none.
        with self._kept.lock:
            self._stopping = True
        for deafen in self._deaf:
            deafen()
        # Cancelled once: the second time would take a tool the time that it has to end in.
        left = await end([*self._loops, *self._tasks], seconds=TASKS_SECONDS, again=TASKS_SECONDS)
        if left:
            logger.error("%d tasks of the runner do not end; they are left to themselves.", len(left))
        self._loops.clear()
        await self.saver.stop()
        # A claim that is under way commits, though nobody waits for it any more.
        caught_up = await database_threads.caught_up(CLAIMS_SECONDS)
        if not caught_up or not await self._kept.all_given_back(CLAIMS_SECONDS):
            logger.warning(
                "The database does not answer; what is being claimed keeps its lease until it ends."
            )
        await self._release()

    async def _release(self) -> None:
        """Give the leases back. A database that does not answer must not hold this up: they run out by themselves."""
        try:
            freed = await within(beside_sessions(renewing.release, self.owner), seconds=RELEASE_SECONDS)
        except (DatabaseError, InterfaceError, Unfinished):
            seconds = conf.BEACH_LEASE_SECONDS
            logger.exception("Leases could not be given back; they run out within %g seconds.", seconds)
            return
        for session in freed:
            doorbell.ring(session, work=True)

    def wake(self, session: int) -> None:
        """Something may be runnable in this session, or a turn of it is to be stopped."""
        if self._stopping:
            return
        self._jobs.wake(session)
        # Only one of the two ways at a time: what rings while a turn is begun by one must not be taken for heard by the
        # other.
        with self._kept.lock:
            if session in self._claiming or session in self._kept:
                self._again.add(session)
                return
            self._claiming.add(session)
        self._spawn(self._claim(session))

    async def _claim(self, session: int) -> None:
        try:
            run = self._runs.get(session)
            if run is not None:
                # Whatever else there is to run waits for its end. It is not claimed anew: after a sleep of the machine
                # its lease has run out, and this runner would take the turn away from itself.
                self._owed.add(session)
                if not run.is_over:
                    await self._look_for_stop(run)
            elif self._is_full:
                self._waiting.setdefault(session)
            else:
                await self._begin(session)
        finally:
            self._claiming.discard(session)
            if session in self._again:
                self._again.discard(session)
                self.wake(session)
            self._wake_waiting()

    @property
    def _is_full(self) -> bool:
        # Its own session is among those of which a turn is being claimed.
        with self._kept.lock:
            return self._free < 0

    @property
    def _free(self) -> int:
        # Asked from other threads too. What becomes a run is one before it ceases to be kept, or to be claimed: in this
        # order it may be counted twice, and is never left out.
        begun = len(self._kept) + len(self._claiming)
        return int(conf.BEACH_TURNS_AT_ONCE) - begun - len(self._runs)

    def _has_room(self, session: int) -> bool:
        """Whether the next turn of this session may begin at once. From any thread."""
        run = self._runs.get(session)
        is_at_work = session in self._claiming or (run is not None and not run.is_over)
        return not (self._stopping or self._waiting or is_at_work) and self._free > 0

    def _take(self, claim: leases.Claim) -> None:
        # One that comes while the process stops is given back with the others.
        if not self._stopping:
            self._run_claim(claim)

    def _given_back(self, session: int) -> None:
        if session in self._again:
            self._again.discard(session)
            self.wake(session)
        self._wake_waiting()

    def _wake_waiting(self) -> None:
        free = self._free
        for session in list(self._waiting)[: max(0, free)]:
            del self._waiting[session]
            self.wake(session)

    async def _begin(self, session: int) -> None:
        claim = await later_in_session(session, self._claimed, session)
        # A claim that was made while the process began to stop is given back with the others.
        if claim is not None and not self._stopping:
            self._run_claim(claim)

    def _run_claim(self, claim: leases.Claim) -> None:
        run = TurnRun(claim, self.owner, self.saver, self.pacer, self._jobs.start, self._clock)
        self._runs[claim.session_pk] = run
        self._spawn(self._run(run))

    def _claimed(self, session: int) -> leases.Claim | None:
        """In the thread of the session."""
        # What rang before this is committed, so this meets it; were it asked for again, each turn of somebody who
        # answers at once would ask once more than the one before.
        self._again.discard(session)
        return leases.claim_next(session, self.owner)

    def _clock(self) -> float:
        return self.now()

    async def _run(self, run: TurnRun) -> None:
        session = run.claim.session_pk
        try:
            with span("beach.turn", _left, turn=run.claim.turn_pk, attempt=run.claim.attempt) as running:
                await run.run()
                if run.ended:
                    running.set_attribute(tracing.ENDED, run.ended)
        except LeaseLost:
            logger.info("%s: carried on elsewhere", run.claim.name)
        except asyncio.CancelledError:
            raise
        except Exception:
            logger.exception("%s: a fault of ours", run.claim.name)
            text = "It is our fault and has been logged. Your messages are safe."
            with contextlib.suppress(LeaseLost):
                await in_session(session, steps.give_up, run.claim, "internal", text)
        finally:
            if self._runs.get(session) is run:
                del self._runs[session]
            if session in self._owed:
                self._owed.discard(session)
                self.wake(session)
            self._wake_waiting()

    async def _look_for_stop(self, run: TurnRun) -> None:
        if await in_session(run.claim.session_pk, leases.is_to_stop, run.claim):
            run.cancelled.set()

    # -- loops --------------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """At start and then regularly: expired approvals, queues nobody serves, leases nobody keeps."""
        while True:
            await self._quietly("sweep", self._sweep_once)
            await asyncio.sleep(conf.BEACH_SWEEP_SECONDS)

    async def _sweep_once(self) -> None:
        for run in self._runs.values():
            run.look_at_clock()
        # Each on its own: one approval that cannot be expired must not keep every queue of the site waiting.
        await self._quietly("expiry of approvals", self._expire_due)
        await self._tidying.sweep()
        await self._quietly("calls of agents' functions", self._answering.sweep)
        await self._quietly("turns that are due", self._due.sweep)
        for session in await beside_sessions(sweeping.runnable_sessions):
            self.wake(session)
        await self._jobs.sweep()

    async def _expire_due(self) -> None:
        for approval, session in await beside_sessions(due_approvals):
            if approval not in self._expiring:
                self._expiring.add(approval)
                self._spawn(self._expire(approval, session))

    async def _expire(self, approval: str, session: int) -> None:
        """In the thread of its session, and nobody waits for it: others may be at work there."""
        try:
            await self._quietly(
                "expiry of an approval", lambda: in_session(session, expire, approval, session, wait=False)
            )
        finally:
            self._expiring.discard(approval)

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(conf.BEACH_LEASE_SECONDS / 3)
            await self._quietly("leases", self._renew_once)

    async def _renew_once(self) -> None:
        runs = {run.claim.turn_pk: run for run in self._runs.values()}
        jobs = self._jobs.at_work
        if not runs and not jobs:
            return
        held, cancel = await beside_sessions(renewing.renew, self.owner, list(runs), jobs)
        if jobs:
            self._jobs.end(set(jobs) - await beside_sessions(renewing.held_jobs, self.owner, jobs))
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

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("A task of the runner failed.", exc_info=task.exception())


def _left(error: BaseException) -> str:
    """How the work on a turn has ended that goes on elsewhere; "" where it has failed."""
    return tracing.LEFT if isinstance(error, LeaseLost | asyncio.CancelledError) else ""
