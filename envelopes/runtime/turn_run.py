"""Running one turn: model, tools, model, ... until it settles, suspends or waits.

Nothing is kept between steps but the claim: each step reads the turn, does one thing and stores it (design, section 2).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from asgiref.sync import sync_to_async

from envelopes.conf import a2ui_limits
from envelopes.errors import BeachError, LeaseLost, ProviderError
from envelopes.models import ToolCall, Turn
from envelopes.protocol.respond import RESPOND, SYSTEM_SNIPPET, respond_tool
from envelopes.protocol.text import MAX_DEPTH, clean_json, clean_text
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelRequest,
    Provider,
    ReplyEnded,
)
from envelopes.registries.actors import Actor, actors
from envelopes.registries.tools import Tool
from envelopes.runtime import calls, journal, reply, steps, turns
from envelopes.runtime.executing import execute
from envelopes.runtime.respond_stream import RespondStream
from envelopes.runtime.store import Claim
from envelopes.runtime.streaming import LiveText
from envelopes.types import Json

CALL_DEPTH = 4
"""How much deeper than a part a call may be: what stands round the part."""

RETRIES = 2
"""How often a model call that broke off for a passing reason is made again within a step."""

StartJob = Callable[[ToolCall], None]


class TurnRun:
    """One claim of one turn. ``cancelled`` is set when the person stops it."""

    def __init__(self, claim: Claim, owner: str, start_job: StartJob) -> None:
        self.claim = claim
        self.owner = owner
        self.start_job = start_job
        self.cancelled = asyncio.Event()
        self._provider: Provider | None = None
        self._failures = 0

    async def run(self) -> None:
        """Returns when there is nothing more to do for this claim. Raises ``LeaseLost`` when it is not ours."""
        following: steps.Next = "step"
        while following != "stop":
            loaded = await sync_to_async(steps.load)(self.claim)
            if loaded.turn.cancel_requested or self.cancelled.is_set():
                await sync_to_async(steps.cancel)(self.claim, [])
                return
            # A reply without a single block still has its correction to be told.
            if following == "model" or not (self._replied(loaded.turn) or loaded.turn.correction):
                following = await self._ask(loaded.turn)
            else:
                await self._run_calls(loaded)
                following = await sync_to_async(steps.answer_calls)(self.claim)

    @staticmethod
    def _replied(turn: Turn) -> bool:
        return bool(turn.messages) and turn.messages[-1]["role"] == "assistant"

    # -- the model ----------------------------------------------------------------------------------------------

    async def _ask(self, turn: Turn) -> steps.Next:
        """One reply of the model, stored block by block as it is written."""
        actor = actors[turn.actor]
        live = LiveText(
            self.claim, turn.number, f"{turn.number}-{turn.attempt}-{turn.steps}-{self._failures}"
        )
        # As a task, so that a person's stop ends it wherever it stands.
        asking = asyncio.create_task(self._stream(actor, turn, live))
        stopping = asyncio.create_task(self.cancelled.wait())
        try:
            await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                asking.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asking
                await sync_to_async(steps.cancel)(self.claim, live.partial())
                return "stop"
            return await asking
        except ProviderError as error:
            return await self._provider_failed(turn, error, live)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Something inside the provider gave up; nobody asked this turn to end.
            return await self._provider_failed(
                turn, ProviderError("The model's answer broke off.", retryable=True), live
            )
        finally:
            live.close()
            stopping.cancel()
            if not asking.done():
                asking.cancel()

    async def _stream(self, actor: Actor, turn: Turn, live: LiveText) -> steps.Next:
        if self._provider is None:
            self._provider = actor.provider()
        if turn.model != self._provider.model:
            await sync_to_async(steps.use_model)(self.claim, turn, self._provider.model)
        request = ModelRequest(
            system=f"{actor.instructions.rstrip()}\n\n{SYSTEM_SNIPPET}",
            messages=turn.messages,
            tools=[respond_tool(), *(tool.definition() for tool in actor.tools)],
            actor=actor.name,
            session_id=turn.session.public_id,
            turn_id=turn.public_id,
        )
        started: dict[int, BlockStarted] = {}
        prose = False
        ended = ReplyEnded(None)
        stream = self._provider.stream(request)
        async with contextlib.aclosing(stream) as events:
            async for event in events:
                match event:
                    case BlockStarted():
                        started[event.index] = event
                        if event.kind == "tool_use" and event.name == RESPOND:
                            live.start(event.index, call_bytes(self._provider))
                    case InputFragment():
                        if event.index in live.streams:
                            await live.feed(event.index, event.fragment)
                    case BlockEnded():
                        prose |= await self._block_ended(
                            started[event.index], event, live, call_bytes(self._provider)
                        )
                    case ReplyEnded():
                        ended = event
        if ended.stop_reason is None:
            raise ProviderError("The model's answer broke off.", retryable=True)
        self._failures = 0
        live.flush()
        return await sync_to_async(steps.end_reply)(
            self.claim, ended.stop_reason, ended.usage, prose=prose, cut=live.left()
        )

    async def _block_ended(
        self, started: BlockStarted, ended: BlockEnded, live: LiveText, limit: int
    ) -> bool:
        """Store a complete block; returns whether it was prose."""
        if ended.kind != "tool_use":
            text = str(ended.content.get("text", "")) if ended.kind == "text" else ""
            await sync_to_async(reply.record_block)(self.claim, ended.content, prose=text)
            return bool(text.strip())
        raw = _parsed(ended.raw_input, limit)
        if started.name == RESPOND:
            bubbles = live.end(ended.index)
            await sync_to_async(reply.record_respond)(self.claim, started.id, raw, live=bubbles)
        else:
            await sync_to_async(reply.record_call)(self.claim, started.id, clean_text(started.name), raw)
        return False

    async def _provider_failed(self, turn: Turn, error: ProviderError, live: LiveText) -> steps.Next:
        again = error.retryable and self._failures < RETRIES
        journal.provider_failed(turn, turn.session.public_id, error, again=again)
        await sync_to_async(steps.withdraw)(self.claim, live.left(), error.as_dict())
        if again:
            self._failures += 1
            await asyncio.sleep(0.5 * 2**self._failures * (0 if self.cancelled.is_set() else 1))
            # What was complete before it broke off is stored; those calls are answered first.
            return "step"
        text = f"{error.message} Nothing was done that is not shown above."
        await sync_to_async(steps.give_up)(self.claim, error.code, text, title="The model did not answer")
        return "stop"

    # -- tools --------------------------------------------------------------------------------------------------

    async def _run_calls(self, loaded: steps.Loaded) -> None:
        """Run what of the last reply may run now: calls that need no approval in order, approved ones in the order
        in which they were approved."""
        actor = actors[loaded.turn.actor]
        granted = [call for call in loaded.calls if call.state == "approved"]
        granted.sort(key=lambda call: (call.approval.decided_at, call.pk))
        for call in [*(call for call in loaded.calls if call.state != "approved"), *granted]:
            tool = actor.tool(call.name)
            if call.state == "denied":
                await sync_to_async(calls.deny_call)(self.claim, call)
            elif tool is None:
                gone = {"code": "tool_gone", "message": f"The tool {call.name!r} does not exist any more."}
                await sync_to_async(calls.finish_call)(self.claim, call, "failed", None, gone)
            elif call.state == "running" and not tool.idempotent:
                # Whoever ran it is gone, and it may have taken effect: never again by itself (D19).
                await sync_to_async(calls.finish_call)(self.claim, call, "unknown", None, turns.UNKNOWN)
            elif call.state in ("requested", "approved", "running") and not await self._needs_asking(
                tool, call
            ):
                claimed = await sync_to_async(calls.claim_call)(self.claim, call.pk, self.owner)
                if tool.background:
                    self.start_job(claimed)
                else:
                    outcome = await execute(tool, claimed, self.claim.fence)
                    await sync_to_async(calls.finish_call)(self.claim, claimed, *outcome)
            if self.cancelled.is_set():
                return

    @staticmethod
    async def _needs_asking(tool: Tool, call: ToolCall) -> bool:
        if call.state != "requested" or tool.approval is None:
            return False
        return bool(tool.approval.required(tool.input.model_validate(call.args)))


def call_bytes(provider: Provider) -> int:
    """How many bytes of JSON one call of this provider may have (D30)."""
    limits = a2ui_limits()
    trusted = getattr(provider, "trusted", False) is True
    return limits.trusted_message_bytes if trusted else limits.message_bytes


def _parsed(raw: str, limit: int) -> Json:
    """The input of a complete call, in text that can be stored, or the error that says what is wrong with its JSON."""
    try:
        return clean_json(RespondStream(limit=limit).close(raw or "{}"), depth=MAX_DEPTH + CALL_DEPTH)
    except BeachError as error:
        if isinstance(error, LeaseLost):
            raise
        return error
