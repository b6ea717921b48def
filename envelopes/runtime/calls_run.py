"""Running the calls of a reply: those that change nothing side by side, whatever may have an effect on its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envelopes.approvals.rules import needs_asking
from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.errors import LeaseLost
from envelopes.models import ToolCall
from envelopes.registries.actors import Actor
from envelopes.registries.tools import Tool
from envelopes.runtime.calling import Stopped
from envelopes.runtime.executing import execute
from envelopes.turns import calls, outcomes
from envelopes.turns.leases import Claim

StartJob = Callable[[ToolCall], None]


@dataclass
class CallsRun:
    """The calls of one turn. Once ``cancelled`` is set none begins, and those that run are ended: how, the end of the
    turn records (``turns.closing``)."""

    claim: Claim
    owner: str
    start_job: StartJob
    cancelled: asyncio.Event

    async def run(self, actor: Actor, unanswered: Sequence[ToolCall]) -> None:
        """Run what may run now: calls that need no approval in order, approved ones in the order in which they were
        approved. Neighbours that may run side by side do."""
        granted = [call for call in unanswered if call.state == "approved"]
        granted.sort(key=lambda call: (call.approval.decided_at, call.pk))
        together: list[tuple[ToolCall, Tool | None]] = []
        for call in [*(call for call in unanswered if call.state != "approved"), *granted]:
            tool = actor.tool(call.name)
            if tool is not None and tool.runs_beside_others:
                together.append((call, tool))
                continue
            await self._run_all(together)
            together = []
            await self._run(call, tool)
        await self._run_all(together)

    async def _run_all(self, together: Sequence[tuple[ToolCall, Tool | None]]) -> None:
        lost = False
        room = asyncio.Semaphore(conf.BEACH_TOOL_CALLS_AT_ONCE)
        try:
            async with asyncio.TaskGroup() as group:
                # Claimed in their order: each asks for that first, in the one thread of their session.
                for call, tool in together:
                    group.create_task(self._run_within(room, call, tool))
        except* LeaseLost:
            lost = True
        if lost:
            raise LeaseLost

    async def _run_within(self, room: asyncio.Semaphore, call: ToolCall, tool: Tool | None) -> None:
        async with room:
            await self._run(call, tool)

    async def _run(self, call: ToolCall, tool: Tool | None) -> None:
        session = self.claim.session_pk
        if self.cancelled.is_set():
            return
        if call.state == "denied":
            await in_session(session, calls.deny_call, self.claim, call)
        elif call.state == "running" and (tool is None or not tool.idempotent):
            # Whoever ran it is gone, and it may have taken effect: never again by itself (D19).
            await in_session(session, calls.finish_call, self.claim, call, "unknown", None, outcomes.UNKNOWN)
        elif call.state not in ("requested", "approved", "running"):
            return
        elif tool is None:
            gone = {"code": "tool_gone", "message": f"The tool {call.name!r} does not exist any more."}
            await in_session(session, calls.finish_call, self.claim, call, "failed", None, gone)
        elif not await self._needs_asking(tool, call):
            await self._claim_and_run(tool, call)

    async def _claim_and_run(self, tool: Tool, call: ToolCall) -> None:
        claimed = await in_session(self.claim.session_pk, calls.claim_call, self.claim, call.pk, self.owner)
        if claimed is None:
            return
        if tool.background:
            self.start_job(claimed)
            return
        try:
            outcome = await execute(tool, claimed, self.claim.fence, self.cancelled)
        except Stopped:
            await in_session(self.claim.session_pk, calls.note_tries, claimed)
            return
        await in_session(self.claim.session_pk, calls.finish_call, self.claim, claimed, *outcome)

    async def _needs_asking(self, tool: Tool, call: ToolCall) -> bool:
        if call.state != "requested" or tool.approval is None:
            return False
        return await in_session(self.claim.session_pk, needs_asking, call.pk, tool)
