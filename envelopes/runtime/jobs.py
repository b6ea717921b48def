"""The background jobs of a process: begun, carried on where their runner is gone, and ended when somebody stops them.

Who stops a job records its outcome at once (``turns.closing``), in whatever process they are. The one that has it hears
by the doorbell, or, where a ring is lost, when it next renews its leases, and ends its code.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from envelopes.database_threads import beside_sessions, in_session
from envelopes.errors import LeaseLost
from envelopes.log.append import JobFence
from envelopes.models import ToolCall
from envelopes.registries.actors import actors
from envelopes.registries.tools import Tool
from envelopes.runtime.calling import Stopped
from envelopes.runtime.executing import execute
from envelopes.turns import calls, leases, outcomes, renewing, sweeping

logger = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


def _tool_of(actor: str, call: ToolCall) -> Tool | None:
    """None where the tool is gone, or its actor."""
    known = actors.get(actor)
    return known.tool(call.name) if known is not None else None


class Jobs:
    """Those that run here, by call, each with what is set to end it."""

    def __init__(self, owner: str, spawn: Spawn) -> None:
        self._owner = owner
        self._spawn = spawn
        self._stopping: dict[int, asyncio.Event] = {}
        self._sessions: dict[int, int] = {}

    @property
    def at_work(self) -> list[int]:
        return list(self._stopping)

    def start(self, call: ToolCall) -> None:
        """Run a call that this process has claimed."""
        self._spawn(self._run(call, self._enter(call)))

    async def sweep(self) -> None:
        """Carry on what nobody runs any more."""
        for call_pk, session in await beside_sessions(sweeping.orphaned_jobs):
            if call_pk not in self._stopping:
                self._spawn(self._take_over(call_pk, session))

    def wake(self, session: int) -> None:
        """Something has happened in this session: perhaps a job of it was stopped."""
        if session in self._sessions.values():
            self._spawn(self._look(session))

    def end(self, gone: Iterable[int]) -> None:
        """End the code of calls that are not this process's to run any more."""
        for call_pk in gone:
            if call_pk in self._stopping:
                self._stopping[call_pk].set()

    async def _look(self, session: int) -> None:
        here = [pk for pk, its_own in self._sessions.items() if its_own == session]
        held = await in_session(session, renewing.held_jobs, self._owner, here)
        self.end(set(here) - held)

    def _enter(self, call: ToolCall) -> asyncio.Event:
        self._sessions[call.pk] = call.session_id
        return self._stopping.setdefault(call.pk, asyncio.Event())

    async def _run(self, call: ToolCall, stopped: asyncio.Event) -> None:
        attempt = call.attempt
        try:
            turn = await in_session(call.session_id, lambda: call.turn)
            tool = _tool_of(turn.actor, call)
            if tool is None:
                gone = {"code": "tool_gone", "message": f"The tool {call.name!r} does not exist any more."}
                await in_session(call.session_id, calls.finish_job, call, attempt, "failed", None, gone)
                return
            outcome = await execute(tool, call, JobFence(call.pk, attempt), stopped)
            await in_session(call.session_id, calls.finish_job, call, attempt, *outcome)
        except (LeaseLost, Stopped):
            logger.info("Job %s is carried on elsewhere, or was stopped.", call.pk)
            await in_session(call.session_id, calls.note_tries, call)
        finally:
            self._stopping.pop(call.pk, None)
            self._sessions.pop(call.pk, None)

    async def _take_over(self, call_pk: int, session: int) -> None:
        attempt = await in_session(session, leases.claim_job, call_pk, self._owner)
        if attempt is None:
            return
        found = ToolCall.objects.select_related("turn", "approval")
        call = await in_session(session, found.get, pk=call_pk)
        if not calls.is_as_asked(call):
            logger.error("Job %s is not what was asked.", call_pk)
            await in_session(call.session_id, calls.finish_job, call, attempt, "failed", None, calls.CHANGED)
            return
        tool = _tool_of(call.turn.actor, call)
        if tool is None or not tool.idempotent:
            # It may have run. Of a tool that is gone nobody knows whether it might be repeated.
            await in_session(
                call.session_id, calls.finish_job, call, attempt, "unknown", None, outcomes.UNKNOWN
            )
            return
        await self._run(call, self._enter(call))
