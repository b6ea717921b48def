"""The calls of one reply: side by side where they may, in order where they must, and ended when a person stops them."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db.models import F
from django.utils import timezone
from pydantic import BaseModel

from envelopes import intake
from envelopes.models import Turn
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Step(BaseModel):
    name: str


class Bench:
    """A tool that waits for others, and what was seen of its calls."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.cancelled: list[str] = []
        self.at_once = self.most = 0
        self.gates: dict[str, asyncio.Event] = {}

    def gate(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())

    def tool(self, name: str = "step", **options: Any) -> Tool:
        return Tool(name, "", Step, self.run, **options)

    async def run(self, context: ToolContext, args: Step) -> Json:
        self.began.append(args.name)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            if args.name in self.gates:
                await self.gates[args.name].wait()
            await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            self.cancelled.append(args.name)
            raise
        finally:
            self.at_once -= 1
        self.ended.append(args.name)
        return {"did": args.name}


async def _until(what: Any, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it never came"
        await asyncio.sleep(0.01)


def _results(d: Desk) -> list[str]:
    return [block["content"] for block in d.requests[-1].messages[-1]["content"]]


async def test_calls_run_side_by_side_and_the_model_reads_their_results_in_its_own_order() -> None:
    bench = Bench()
    gate = bench.gate("a")
    called = [Call("step", {"name": name}) for name in "abc"]
    async with desk(replies(called, DONE), bench.tool()) as d:
        await d.say("go", wait=False)
        # The first one waits for the end of the others.
        await _until(lambda: bench.ended == ["b", "c"])
        assert bench.began == ["a", "b", "c"]
        gate.set()
        await d.quiet()
        assert bench.ended == ["b", "c", "a"]
        assert ['"did": "a"' in _results(d)[0] or '"did":"a"' in _results(d)[0]] == [True]
        assert [next(name for name in "abc" if f'"{name}"' in told) for told in _results(d)] == [
            "a",
            "b",
            "c",
        ]
        assert {call.state for call in await d.calls()} == {"succeeded"}


@pytest.mark.parametrize("options", [{"concurrent": False}, {"idempotent": False}])
async def test_calls_that_may_not_run_one_after_the_other_in_order(options: Any) -> None:
    bench = Bench()
    async with desk(
        replies([Call("step", {"name": name}) for name in "abc"], DONE), bench.tool(**options)
    ) as d:
        await d.say("go")
        assert (bench.most, bench.began, bench.ended) == (1, ["a", "b", "c"], ["a", "b", "c"])


async def test_what_has_an_effect_waits_for_what_was_called_before_it_and_the_rest_for_it() -> None:
    bench = Bench()
    gates = [bench.gate(name) for name in ("a", "w", "c")]
    called = [Call("step", {"name": "a"}), Call("step", {"name": "b"}), Call("write", {"name": "w"})]
    called += [Call("step", {"name": "c"}), Call("step", {"name": "d"})]
    tools = bench.tool(), bench.tool("write", idempotent=False)
    async with desk(replies(called, DONE), *tools) as d:
        await d.say("go", wait=False)
        for gate, began, ended in zip(gates, ("ab", "abw", "abwcd"), ("b", "ba", "bawd"), strict=True):
            await _until(lambda began=began, ended=ended: bench.began == [*began] and bench.ended == [*ended])
            await asyncio.sleep(0.05)
            assert (bench.began, bench.ended) == ([*began], [*ended])
            gate.set()
        await d.quiet()
        assert await d.texts() == ["Done."]


async def test_calls_that_are_asked_about_run_in_the_order_of_their_approvals_never_at_once() -> None:
    bench = Bench()
    tool = bench.tool(approval=ApprovalPolicy(question=lambda args: f"Do {args.name}?"))
    async with desk(replies([Call("step", {"name": name}) for name in "ab"], DONE), tool) as d:
        await d.say("go")
        await d.decide("granted", which=1)
        await d.decide("granted", which=0)
        assert (bench.most, bench.ended) == (1, ["b", "a"])


async def test_calls_at_once_lose_nothing_of_what_they_say() -> None:
    async def run(context: ToolContext, args: Step) -> Json:
        for number in range(8):
            await context.emit(text("response", f"{args.name}{number}"))
        return args.name

    called = [Call("says", {"name": name}) for name in "abcd"]
    async with desk(replies(called, DONE), Tool("says", "", Step, run)) as d:
        await d.say("go")
        said = await d.texts()
        for name in "abcd":
            assert [one for one in said if one[0] == name] == [f"{name}{number}" for number in range(8)]
        assert [call.result for call in await d.calls()] == ["a", "b", "c", "d"]


async def test_whose_turn_was_taken_away_ends_the_others_too(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.gate("a")

    async def run(context: ToolContext, args: Step) -> Json:
        await _until(lambda: bench.began)
        await sync_to_async(Turn.objects.update)(attempt=F("attempt") + 1, lease_owner="other:1:1")
        await context.emit(text("response", "Never."))
        return None

    called = [Call("step", {"name": "a"}), Call("loses", {"name": "b"})]
    async with desk(replies(called, DONE), bench.tool(), Tool("loses", "", Step, run)) as d:
        await d.say("go", wait=False)
        await _until(lambda: bench.cancelled == ["a"])
        assert await d.texts() == []
        await _until(lambda: not d.runner._runs)
        assert "a fault of ours" not in caplog.text
        await sync_to_async(Turn.objects.update)(lease_until=timezone.now() + timedelta(hours=1))


async def _until_waiting(d: Desk) -> None:
    for _ in range(1000):
        if [turn.status for turn in await d.turns()] == ["waiting"]:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not wait")


# -- stopped -------------------------------------------------------------------------------------------------------


async def _stop(d: Desk) -> None:
    await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
    began = time.monotonic()
    await d.quiet()
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("idempotent", "ended"), [(True, ("failed", "cancelled")), (False, ("unknown", "outcome_unknown"))]
)
async def test_a_stop_ends_a_tool_that_runs_and_says_what_is_known(
    idempotent: bool, ended: tuple[str, str]
) -> None:
    bench = Bench()
    bench.gate("a")
    called = [Call("step", {"name": "a"}), Call("step", {"name": "b"})]
    tool = bench.tool(idempotent=idempotent, concurrent=False)
    async with desk(replies(called, DONE), tool) as d:
        await d.say("go", wait=False)
        await _until(lambda: bench.began)
        await _stop(d)
        assert (bench.began, bench.cancelled) == (["a"], ["a"])
        first, second = await d.calls()
        assert (first.state, first.error["code"]) == ended
        assert first.error["message"].startswith("The person stopped it.")
        assert (second.state, second.error["code"]) == ("failed", "not_run")
        (turn,) = await d.turns()
        assert (turn.status, turn.finalized_by) == ("settled", "cancelled")
        # Nobody runs it again.
        await d.runner._sweep_once()
        await d.quiet()
        assert bench.began == ["a"] and len(d.requests) == 1


async def test_a_stop_ends_all_that_run_at_once() -> None:
    bench = Bench()
    bench.gate("a"), bench.gate("b")
    called = [Call("step", {"name": name}) for name in "abc"]
    async with desk(replies(called, DONE), bench.tool()) as d:
        await d.say("go", wait=False)
        await _until(lambda: bench.ended == ["c"])
        await _stop(d)
        assert sorted(bench.cancelled) == ["a", "b"]
        assert [call.state for call in await d.calls()] == ["failed", "failed", "succeeded"]


@pytest.mark.parametrize(("idempotent", "state"), [(True, "failed"), (False, "unknown")])
async def test_a_stop_does_not_wait_for_a_function_that_blocks(idempotent: bool, state: str) -> None:
    began, end = threading.Event(), threading.Event()

    def run(context: ToolContext, args: Step) -> Json:
        began.set()
        end.wait(20)
        return "late"

    tool = Tool("blocks", "", Step, run, idempotent=idempotent)
    try:
        async with desk(replies([Call("blocks", {"name": "a"})], DONE), tool) as d:
            await d.say("go", wait=False)
            await _until(began.is_set)
            await _stop(d)
            assert [(call.state, call.result) for call in await d.calls()] == [(state, None)]
    finally:
        end.set()


async def test_a_stop_asks_nobody_about_what_was_not_begun() -> None:
    bench = Bench()
    bench.gate("a")
    asks = bench.tool("asks", approval=ApprovalPolicy(question=lambda args: "Do it?"))
    called = [Call("step", {"name": "a"}), Call("asks", {"name": "b"})]
    async with desk(replies(called, DONE), bench.tool(), asks) as d:
        await d.say("go", wait=False)
        await _until(lambda: bench.began)
        await _stop(d)
        assert await d.approvals() == []
        assert [turn.status for turn in await d.turns()] == ["settled"]


async def test_the_end_of_its_time_ends_a_tool_as_a_stop_does() -> None:
    bench = Bench()
    bench.gate("a")
    async with desk(replies([Call("step", {"name": "a"})], DONE), bench.tool()) as d:
        await d.say("go", wait=False)
        await _until(lambda: bench.began)
        (turn,) = await d.turns()
        d.runner.now = lambda: (turn.deadline or 0) + 1
        await d.runner._sweep_once()
        await d.quiet()
        (call,) = await d.calls()
        assert (call.state, call.error["code"]) == ("failed", "turn_timeout")
        assert [turn.finalized_by for turn in await d.turns()] == ["timeout"]


@pytest.mark.parametrize(("idempotent", "state"), [(True, "failed"), (False, "unknown")])
async def test_a_job_that_is_stopped_is_as_honest(idempotent: bool, state: str) -> None:
    bench = Bench()
    bench.gate("a")
    tool = bench.tool(idempotent=idempotent, background=True)
    waits = [Say([text("ack", "Waiting.")], "awaiting")]
    async with desk(replies([Call("step", {"name": "a"})], waits), tool) as d:
        await d.say("go", wait=False)
        await _until(lambda: bench.began)
        await _until_waiting(d)
        await sync_to_async(intake.stop)(d.session, d.owner, "stop-1")
        assert [call.state for call in await d.calls()] == [state]
        bench.gate("a").set()
        await d.quiet()
        # What it gives then is nobody's.
        assert [(call.state, call.result) for call in await d.calls()] == [(state, None)]
