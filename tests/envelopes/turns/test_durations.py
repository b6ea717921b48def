"""How long a call ran is recorded with it, and shown to staff."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.approvals.resolve import resolve
from envelopes.models import ToolCall
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests import factories
from tests.desk import desk, replies
from tests.envelopes.admin.pages import text_of, url, viewer

pytestmark = pytest.mark.django_db(transaction=True)

DONE = [Say([text("response", "Done.")])]


class Nothing(BaseModel):
    pass


async def test_a_call_has_its_seconds_and_one_that_never_ran_has_none() -> None:
    async def run(context: ToolContext, args: Nothing) -> Json:
        await asyncio.sleep(0.12)
        return "done"

    tools = Tool("slow", "", Nothing, run), factories.make_tool("refund")
    called = [Call("slow"), Call("refund", {"order": "A17", "amount": 40.0, "note": ""})]
    async with desk(replies(called, DONE), *tools) as d:
        await d.say("go")
        await d.decide("denied")
        slow, refund = await d.calls()
        assert slow.seconds is not None and 0.12 <= slow.seconds < 10
        assert refund.seconds is None

    def page(call: ToolCall) -> str:
        return text_of(viewer().get(url(call, "change")).content)

    assert f"{slow.seconds:g}" in (await sync_to_async(page)(slow)).partition("Took (seconds)")[2]


async def test_what_staff_find_out_later_makes_no_call_longer() -> None:
    async def run(context: ToolContext, args: Nothing) -> Json:
        await asyncio.Event().wait()
        return None

    tool = Tool("hangs", "", Nothing, run, timeout=0.1, idempotent=False)
    async with desk(replies([Call("hangs")], DONE), tool) as d:
        await d.say("go")
        (before,) = await d.calls()
        assert before.state == "unknown" and before.seconds is not None and before.seconds >= 0.1
        staff = await sync_to_async(factories.make_user)("jo", staff=True, permissions=("decide_approval",))
        who = await sync_to_async(factories.make_principal)(staff)
        await sync_to_async(resolve)(before.pk, "succeeded", who, note="Seen in the books.")
        await d.quiet()
        (after,) = await d.calls()
        assert (after.state, after.seconds) == ("succeeded", before.seconds)
