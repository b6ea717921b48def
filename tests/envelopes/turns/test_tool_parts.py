"""What tools say and attach while they run, on the rows and in the envelope."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.delivery.envelope import envelope_for
from envelopes.models import Turn
from envelopes.protocol.rows import Row
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json, JsonObject
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


class Trip(BaseModel):
    to: str


async def _book(context: ToolContext, args: Trip) -> Json:
    await context.emit(_data("booking", {"to": args.to}), {"text": "Ticket:", **_type("response")})
    await context.attach("ticket.txt", "text/plain", b"Seat 12A")
    return {"booked": True}


def _type(name: str, **more: Json) -> JsonObject:
    return {"metadata": {"partType": name, **more}}


def _data(kind: str, value: Json) -> JsonObject:
    return {"data": value, **_type("domain-data", dataKind=kind)}


def _needs(run: Any, **more: Any) -> Tool:
    return Tool("book", "", Trip, run, approval=ApprovalPolicy(lambda args: f"Book {args.to}?"), **more)


async def _envelope(d: Desk) -> list[JsonObject]:
    def read() -> list[JsonObject]:
        turn = Turn.objects.select_related("session").get(session=d.session)
        parts: list[JsonObject] = envelope_for(turn)["parts"]
        return parts

    return await sync_to_async(read)()


def _states(rows: list[Row]) -> list[tuple[str, str]]:
    return [(row.part_type, row.data["turnState"]) for row in rows]


async def test_s10_what_a_tool_says_after_a_grant_is_said_at_work_and_in_the_envelope_once() -> None:
    ask = [Say([text("ack", "One moment.")], "awaiting"), Call("book", {"to": "Corfu"})]
    async with desk(replies(ask, [Say([text("response", "Booked.")])]), _needs(_book)) as d:
        await d.say("Book Corfu")
        assert (await d.turns())[0].turn_state == "suspended"
        await d.decide("granted")

        assert _states(await d.rows("part")) == [
            ("ack", "awaiting"),
            ("approval-request", "suspended"),
            ("a2ui-surface", "suspended"),
            ("approval-response", "suspended"),
            ("a2ui-surface", "suspended"),
            ("domain-data", "awaiting"),
            ("response", "awaiting"),
            ("artifact", "awaiting"),
            ("response", "complete"),
        ]
        found = [(part["metadata"]["partType"], part.get("text")) for part in await _envelope(d)]
        assert found == [
            ("domain-data", None),
            ("response", "Ticket:"),
            ("artifact", None),
            ("response", "Booked."),
        ]


async def test_s10_what_a_job_says_while_another_call_is_asked_about_is_in_the_envelope_once() -> None:
    asked = asyncio.Event()

    async def research(context: ToolContext, args: Trip) -> Json:
        await asked.wait()
        await context.emit(_data("sights", {"found": 3}))
        return {}

    ask = [
        Say([text("ack", "One moment.")], "awaiting"),
        Call("research", {"to": "Corfu"}),
        Call("book", {"to": "Corfu"}),
    ]
    job = Tool("research", "", Trip, research, background=True)
    async with desk(replies(ask, [Say([text("response", "Booked.")])]), job, _needs(_book)) as d:
        await d.say("Book Corfu", wait=False)
        for _ in range(1000):
            if await d.approvals():
                break
            await asyncio.sleep(0.01)
        asked.set()
        await d.quiet()
        assert ("domain-data", "suspended") in _states(await d.rows("part"))
        await d.decide("granted")

        kinds = [part["metadata"].get("dataKind") for part in await _envelope(d)]
        assert sorted(filter(None, kinds)) == ["booking", "sights"]
        assert "approval-request" not in str(await _envelope(d))
