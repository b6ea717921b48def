"""Running one turn: model, tools, model, ... until it settles, suspends or waits.

Each step does one thing and stores it (design, section 2). What is kept between them is the claim; while a reply is
written, also the turn as it was stored last, which nobody else changes as long as the lease is held.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Concatenate, ParamSpec, TypeVar

from envelopes import tracing
from envelopes.database_threads import in_session
from envelopes.errors import LeaseLost, ProviderError
from envelopes.models import Turn
from envelopes.protocol.respond import RESPOND
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelRequest,
    Provider,
    ReplyEnded,
)
from envelopes.providers.transcript import in_order
from envelopes.registries.actors import Actor, actors
from envelopes.registries.statuses import TurnStatus
from envelopes.runtime import fitting, model_retries
from envelopes.runtime.blocks import Begun, check_event, complete, rules_of, stream_of
from envelopes.runtime.calls_run import CallsRun, StartJob
from envelopes.runtime.hearing import Hearing
from envelopes.runtime.held_block import HeldBlock
from envelopes.runtime.pacing import Pacer
from envelopes.runtime.preparing import prepare
from envelopes.runtime.prompting import instructions_for, prompt_for
from envelopes.runtime.saving import LiveSaver
from envelopes.runtime.streaming import LiveText
from envelopes.runtime.under_way import UnderWay
from envelopes.tracing import span
from envelopes.turns import journal, model_failures, reply, steps
from envelopes.turns.agent_calls import is_for_calls
from envelopes.turns.deciding import LONG_WAY_ON, TOO_LONG, ReplyEnd, after_reply
from envelopes.turns.leases import Claim
from envelopes.turns.spending import Unfinished
from envelopes.types import JsonObject

P = ParamSpec("P")
T = TypeVar("T")


class TurnRun:
    """One claim of one turn. ``cancelled`` is set when the person stops it, or when its time is up. ``now`` gives
    seconds since 1970."""

    def __init__(
        self,
        claim: Claim,
        owner: str,
        saver: LiveSaver,
        pacer: Pacer,
        start_job: StartJob,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.claim = claim
        self.now = now
        self.saver = saver
        self.pacer = pacer
        self.cancelled = asyncio.Event()
        self._calls = CallsRun(claim, owner, start_job, self.cancelled)
        self._provider: Provider | None = None
        self._instructions: tuple[Actor, str] | None = None
        self._failures = 0
        # How it has ended before its time, for who watches: "" where it has not.
        self.ended = ""
        # What was said of the failure after which the model is asked again.
        self._retry: JsonObject | None = None
        self._under_way: UnderWay | None = None
        self._hearing = Hearing()
        self._room = fitting.Room()
        self._fresh = claim.turn
        self._turn: Turn | None = None

    @property
    def is_over(self) -> bool:
        """Whether the turn has been settled here, though the run may not have heard of it yet: readers hear as soon."""
        return self._turn is not None and self._turn.status == TurnStatus.SETTLED

    def look_at_clock(self) -> None:
        """End it, as when a person stops it, once its time is up."""
        if self._is_out_of_time:
            self.cancelled.set()

    @property
    def _is_out_of_time(self) -> bool:
        return self.claim.deadline is not None and self.claim.deadline <= self.now()

    async def run(self) -> None:
        """Returns when there is nothing more to do for this claim. Raises ``LeaseLost`` when it is not ours."""
        following: steps.Next = "step"
        while following != "stop":
            loaded = await self._loaded()
            self._turn = loaded.turn
            if loaded.turn.cancel_requested or self.cancelled.is_set() or self._is_out_of_time:
                await self._end_early([], is_asked=loaded.turn.cancel_requested)
                return
            if loaded.turn.actor not in actors:
                # Its application has been taken out of the site, and the conversation is still there.
                text = "The agent of this conversation is not part of this site any more. Start a new one."
                await self._store(steps.give_up, "actor_gone", text)
                return
            # A reply without a single block still has its correction to be told.
            replied = self._replied(loaded.turn)
            if not replied and is_for_calls(loaded.turn) and not await self._store(steps.still_asked):
                return
            if following == "model" or not (replied or loaded.turn.correction):
                following = await self._ask(loaded.turn)
            else:
                await self._calls.run(actors[loaded.turn.actor], loaded.calls)
                # Who was stopped meanwhile asks nobody any more.
                is_stopped = self.cancelled.is_set()
                following = "step" if is_stopped else await self._store(steps.answer_calls)

    async def _loaded(self) -> steps.Loaded:
        fresh, self._fresh = self._fresh, None
        # What was claimed just now, without a reply that could have calls, need not be read again.
        return steps.Loaded(fresh) if fresh is not None else await self._store(steps.load)

    def _store(
        self, step: Callable[Concatenate[Claim, P], T], *args: P.args, **options: P.kwargs
    ) -> Awaitable[T]:
        """``step`` of this claim, in the database's thread of its session."""
        return in_session(self.claim.session_pk, step, self.claim, *args, **options)

    @staticmethod
    def _replied(turn: Turn) -> bool:
        return bool(turn.messages) and turn.messages[-1]["role"] == "assistant"

    # -- the model ----------------------------------------------------------------------------------------------

    async def _ask(self, turn: Turn) -> steps.Next:
        """One reply of the model, stored block by block as it is written."""
        actor = actors[turn.actor]
        shown_in, place = await self._shown_in(turn)
        prefix = "-".join(map(str, (turn.number, *place, turn.attempt, turn.steps, self._failures)))
        live = LiveText(self.claim, shown_in, prefix, self.saver, self.pacer)
        held = HeldBlock(self.claim, turn)
        try:
            return await self._asked(actor, turn, live, held)
        except LeaseLost:
            raise
        except BaseException:
            # Complete, and read: however the rest of the reply ends.
            await held.rescue()
            raise
        finally:
            held.close()
            live.close()

    async def _shown_in(self, turn: Turn) -> tuple[int, tuple[int, ...]]:
        """The number of the turn in which it is read, and where there."""
        if turn.delegated_from_id is None:
            return turn.number, ()
        return await in_session(self.claim.session_pk, lambda: (turn.shown_in, turn.place))

    async def _asked(self, actor: Actor, turn: Turn, live: LiveText, held: HeldBlock) -> steps.Next:
        # As a task, so that a person's stop ends it wherever it stands.
        self._hearing = Hearing()
        asking = asyncio.create_task(self._traced(actor, turn, live, held))
        stopping = asyncio.create_task(self.cancelled.wait())
        try:
            await self._hearing.until(asking, stopping)
            if not asking.done():
                if await self._hearing.ends(asking):
                    with contextlib.suppress(asyncio.CancelledError):
                        return await asking
                return await self._stopped(live, held)
            return await asking
        except ProviderError as error:
            if self.cancelled.is_set():
                # Whatever it ends with when it is stopped: it has not failed.
                return await self._stopped(live, held)
            return await self._provider_failed(turn, error, live, held)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Something inside the provider gave up; nobody asked this turn to end.
            broke_off = ProviderError("The model's answer broke off.", retryable=True)
            return await self._provider_failed(turn, broke_off, live, held)
        finally:
            stopping.cancel()
            if not asking.done():
                asking.cancel()

    async def _stopped(self, live: LiveText, held: HeldBlock) -> steps.Next:
        # Complete, and read: it is no part that was cut.
        following = await held.store()
        if following is None:
            await self._end_early(live.partial())
        return following or "stop"

    async def _end_early(self, partial: list[tuple[str, str, str, str]], *, is_asked: bool = False) -> None:
        """Settle the turn, which a person has stopped or whose time is up. ``is_asked``: the former, in any case."""
        self.ended = self._early(is_asked=is_asked)
        step = steps.cancel if self.ended == tracing.STOPPED else steps.end_time
        await self._store(step, partial, self._unfinished())

    def _early(self, *, is_asked: bool = False) -> str:
        return tracing.TIMEOUT if self._is_out_of_time and not is_asked else tracing.STOPPED

    def _unfinished(self) -> Unfinished | None:
        """What has been taken by a reply that does not come to its end; None where that is nothing."""
        under_way, self._under_way = self._under_way, None
        usage = under_way.spent()[0] if under_way is not None else {}
        return Unfinished(under_way.provider.model, usage) if under_way is not None and usage else None

    async def _traced(self, actor: Actor, turn: Turn, live: LiveText, held: HeldBlock) -> steps.Next:
        def how(error: BaseException) -> str:
            return self._hearing.ended(error, self._early() if self.cancelled.is_set() else "")

        with span("beach.model", how, actor=actor.name, step=turn.steps + 1) as asked:
            try:
                return await self._stream(actor, turn, live, held)
            finally:
                asked.set_attribute("beach.model", turn.model)

    async def _stream(self, actor: Actor, turn: Turn, live: LiveText, held: HeldBlock) -> steps.Next:
        provider = await self._provider_for(actor, turn)
        hearing = self._hearing
        hearing.who = provider.label
        rules = rules_of(provider)
        prompt = prompt_for(actor, await self._instructions_of(actor, turn))
        request = ModelRequest(
            system=prompt.system,
            messages=turn.messages,
            tools=prompt.tools,
            actor=actor.name,
            session_id=turn.session.public_id,
            turn_id=turn.public_id,
        )
        shortened = await self._room.make(provider, turn, request)
        self._under_way = UnderWay(provider, self._room.sent)
        begun = Begun(turn, provider.label)
        prose, ended = False, ReplyEnded(None)
        sent = replace(request, messages=in_order(turn.messages))
        async with contextlib.aclosing(stream_of(provider, sent)) as events:
            async for event in events:
                hearing.heard()
                self._under_way.hear(event)
                match event:
                    case InputFragment():  # nearly all are
                        if live.reads(event.index):
                            live.feed(event.index, event.fragment)
                    case BlockStarted():
                        await held.store()
                        await self._tell_tried_again(turn)
                        block_begun = begun.begin(event)
                        if block_begun is not None and block_begun.name == RESPOND:
                            live.start(event.index, rules.limit)
                    case BlockEnded():
                        await held.store()
                        if (started := begun.of(event.index)) is None:
                            continue
                        block = await complete(started, event, live, rules)
                        prose |= isinstance(block, reply.Written) and bool(block.prose.strip())
                        held.hold(block)
                    case ReplyEnded():
                        ended = event
                    case other:
                        check_event(provider, other)
        begun.check_end(ended)
        usage, estimated = self._under_way.spent()
        self._under_way = None
        await live.over()
        self._failures = 0
        live.flush()
        over = ReplyEnd(ended.stop_reason, usage, prose, live.left(), shortened, estimated=estimated)
        if not turn.wants_context:
            return await held.end(over)
        await held.store()
        following = after_reply(turn, over, steps.retry_limits())
        prepared = await prepare(turn, actor, following, over.usage, self.cancelled)
        return await held.end(over, prepared)

    async def _tell_tried_again(self, turn: Turn) -> None:
        """Before anything of the new reply is shown: what was said of the wait for it is over."""
        retry, self._retry = self._retry, None
        if retry is not None:
            await self._store(model_failures.tell_tried_again, turn, retry)

    async def _instructions_of(self, actor: Actor, turn: Turn) -> str:
        """Asked for once, so that what providers keep of a prompt holds for the whole turn."""
        if isinstance(actor.instructions, str):
            return actor.instructions
        if self._instructions is None or self._instructions[0] is not actor:
            told = await in_session(self.claim.session_pk, instructions_for, actor, turn.session)
            self._instructions = actor, told
        return self._instructions[1]

    async def _provider_for(self, actor: Actor, turn: Turn) -> Provider:
        provider = self._provider = self._provider or actor.provider()
        if not turn.model:
            # Stored with the first block that it writes.
            turn.model = provider.model
        elif turn.model != provider.model:
            await self._store(steps.use_model, turn, provider.model)
        return provider

    async def _provider_failed(
        self, turn: Turn, error: ProviderError, live: LiveText, held: HeldBlock
    ) -> steps.Next:
        await held.store()
        await live.over()
        if self._room.is_worth_less(error):
            await self._store(model_failures.withdraw, turn, live.left(), error.as_dict(), None)
            return "step"
        again = model_retries.again(error, self._failures)
        journal.provider_failed(turn, turn.session.public_id, error, again=again is not None)
        label = self._provider.label if self._provider is not None else ""
        retry = None if again is None else again.told(error, label, self.now())
        await self._store(
            model_failures.withdraw, turn, live.left(), error.as_dict(), self._unfinished(), retry=retry
        )
        if again is not None:
            self._failures, self._retry = self._failures + 1, retry
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.cancelled.wait(), again.seconds)
            # What was complete before it broke off is stored; those calls are answered first.
            return "step"
        told = model_retries.given_up(error, turn.session.timezone, self.now())
        code, title = error.code, "The model did not answer"
        if error.facts.get("why") == TOO_LONG:
            code, title, told = TOO_LONG, "This has become too long", f"{told} {LONG_WAY_ON}"
        text = f"{told} Nothing was done that is not shown above."
        await self._store(steps.give_up, code, text, title=title)
        return "stop"
