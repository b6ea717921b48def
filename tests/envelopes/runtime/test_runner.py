"""What the runner does when something near it goes wrong, and when the machine has slept."""

from __future__ import annotations

import asyncio
import math
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pydantic import BaseModel

from envelopes.models import Turn
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.runtime import runner
from envelopes.types import Json
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Nothing(BaseModel):
    pass


async def test_a_turn_whose_lease_ran_out_while_the_machine_slept_is_not_taken_from_oneself() -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def book(context: object, args: Nothing) -> Json:
        begun.set()
        await release.wait()
        return "booked"

    async with desk(
        replies([Call("book", {})], DONE), Tool("book", "", Nothing, book, idempotent=False)
    ) as d:
        await d.say("Book it", wait=False)
        await asyncio.wait_for(begun.wait(), 5)
        await Turn.objects.aupdate(lease_until=timezone.now() - timedelta(hours=1))
        await d.runner._claim(d.session.pk)
        release.set()
        await d.quiet()
        (turn,) = await d.turns()
        (call,) = await d.calls()
        assert (turn.attempt, call.state, call.result) == (1, "succeeded", "booked")


async def test_an_approval_that_cannot_expire_keeps_no_queue_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> int:
        raise RuntimeError("a row that nobody can read")

    monkeypatch.setattr(runner, "expire_due", broken)
    monkeypatch.setattr(runner.doorbell, "ring", lambda *args, **more: None)  # only the sweep may find it
    async with desk(replies(DONE)) as d:
        await d.say("Hello", wait=False)
        await d.quiet()
        assert await d.texts() == ["Done."]


@pytest.mark.parametrize("result", [math.nan, {"when": object()}, [[[[math.inf]]]]])
async def test_a_result_that_cannot_be_stored_does_not_undo_what_was_done(result: Any) -> None:
    async def book(context: object, args: Nothing) -> Json:
        return result

    async with desk(
        replies([Call("book", {})], DONE), Tool("book", "", Nothing, book, idempotent=False)
    ) as d:
        await d.say("Book it")
        (call,) = await d.calls()
        assert call.state == "succeeded"
        assert "cannot be shown" in call.result["note"]


async def test_a_fault_in_the_sentence_about_a_result_does_not_lose_it() -> None:
    async def book(context: object, args: Nothing) -> Json:
        return {"reference": "R-1"}

    policy = ApprovalPolicy(question=lambda args: "Book?", done=lambda args, result: str(result["missing"]))
    tool = Tool("book", "", Nothing, book, approval=policy, idempotent=False)
    async with desk(replies([Call("book", {})], DONE), tool) as d:
        await d.say("Book it")
        await d.decide("granted")
        (call,) = await d.calls()
        assert (call.state, call.result) == ("succeeded", {"reference": "R-1"})
        assert await d.texts() == ["Done."]
