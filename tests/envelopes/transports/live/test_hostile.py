"""Clients and agents that mean no good: what they send stops nothing for anybody else, and holds nothing for long."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from envelopes.models import Event, LiveChannel
from envelopes.providers.scripted import Say, data, text
from envelopes.transports.live import ContractRefused, caps
from envelopes.transports.live.contracts import MAX_NAME, contract_of
from envelopes.types import JsonObject
from tests import left_over
from tests.desk import replies
from tests.envelopes.transports.live.client import Channel, live
from tests.envelopes.transports.live.test_door import signed_in
from tests.envelopes.transports.live.test_drawn import surface
from tests.envelopes.transports.live.test_own_channels import number
from tests.factories import make_user
from tests.sockets import Browser
from tests.writers import BASIC

pytestmark = pytest.mark.django_db(transaction=True)

LONG = 10**30
"""Longer than 64 bits, which is where some encoders of JSON end."""


async def test_long_integers_reach_readers_of_every_version_and_stop_nobody() -> None:
    shown = surface(
        {"version": "v0.9", "createSurface": {"surfaceId": "form", "catalogId": BASIC}},
        {"version": "v0.9", "updateDataModel": {"surfaceId": "form", "path": "/n", "value": LONG}},
    )
    contract = {"streamSpec": {"ticks": {"schema": number("n"), "replay": "all"}}}
    said = [data("domain-data", {"n": LONG}, channel="ticks"), shown, text("response", "Done.")]
    async with live(replies([Say(said)], [Say(said)]), contract=contract) as (session, caller):
        first = await Channel(token=caller.token).open()
        await first.subscribe(session)
        assert (await first.act(session, "go", LONG))["type"] == "ack"
        await first.settled()
        for version in ("v0.9", "v0.9.1", "1.0"):
            channel = await Channel(token=caller.token).open()
            ack = await channel.subscribe(session, fromSeq=0, a2ui=[version], sinceSequence=0)
            assert str(LONG) in str(ack["payload"]["session"]["surfaces"])
            await channel.settled()
            assert [one["payload"] for one in channel.on("ticks")] == [{"n": LONG}]
            (drawn,) = channel.on("beach:surface/tester/form")
            assert str(LONG) in str(drawn["payload"]["messages"])
            await channel.close()
        await first.close()


async def test_whoever_fails_to_subscribe_again_has_no_more_time_than_anybody(settings: Any) -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        assert caps.pending.count == 0
        settings.BEACH_LIVE_PENDING_SECONDS = 0.05
        await channel.send("subscribe", {"sessionId": "another"})
        assert await channel.closed() == 1008
        assert caps.pending.count == 0


async def test_whoever_fails_to_subscribe_again_takes_a_place(settings: Any) -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        settings.BEACH_LIVE_PENDING = 1
        waiting = await Channel(token=caller.token).open()
        await waiting.pong()
        await channel.send("subscribe", {"sessionId": "another"})
        assert await channel.closed() == 1013
        await waiting.close()


async def test_surroundings_are_told_by_an_owner_whose_login_counts() -> None:
    owner, who = await signed_in()
    staff_user = await sync_to_async(make_user)(staff=True, permissions=["view_session"])
    client = AsyncClient()
    await client.aforce_login(staff_user)
    staff = Browser({name: morsel.value for name, morsel in client.cookies.items()})
    async with live(owner=who) as (session, _):
        told = {"sessionId": session.public_id, "hostContext": {"locale": "de"}}
        watching = await Channel(browser=staff).open()
        await watching.subscribe(session)
        assert (await watching.ask("host_context_observed", told))["payload"]["code"] == "FORBIDDEN"
        await watching.close()
        page = await Channel(browser=owner).open()
        await page.subscribe(session)
        out = AsyncClient()
        out.cookies.load(owner.cookies)
        await out.alogout()
        await page.send("host_context_observed", told)
        assert await page.closed() == 4411
        assert not await LiveChannel.objects.filter(session=session).aexists()


BAD = ["_ggui:preview", "n" * (MAX_NAME + 1), "a\tb", "a\nb", "\u202eevil"]


async def test_actions_without_a_contract_have_names_that_can_be_told() -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        for name in BAD:
            assert (await channel.act(session, name))["payload"]["code"] == "CONTRACT_VIOLATION"
        assert not await Event.objects.filter(session=session).aexists()
        assert (await channel.act(session, "n" * MAX_NAME))["type"] == "ack"
        await channel.close()


@pytest.mark.parametrize("name", [*BAD[1:], "beach:message", "beach:response"])
@pytest.mark.parametrize("part", ["actionSpec", "streamSpec"])
def test_an_agent_declares_no_name_that_is_the_servers_or_breaks_a_line(part: str, name: str) -> None:
    entry: JsonObject = {"schema": {"type": "string"}}
    with pytest.raises(ContractRefused) as refused:
        contract_of({part: {name: entry}})
    assert [one.code for one in refused.value.violations] == ["CTR_RESERVED_NAME"]


async def test_what_is_not_there_in_a_session_is_not_the_end_of_it() -> None:
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        nowhere = {"target": {"owner": "tester", "surfaceId": "none", "componentId": "root"}}
        for action, data_ in (
            ("beach:click", nowhere),
            ("beach:edit", {**nowhere, "value": 1}),
            ("beach:decide", {"approval": "0" * 22, "decision": "granted"}),
        ):
            assert (await channel.act(session, action, data_))["payload"]["code"] == "NOT_FOUND"
        await sync_to_async(session.delete)()
        gone = await channel.act(session, "beach:message", {"text": "Hi"})
        assert gone["payload"]["code"] == "SESSION_NOT_FOUND"
        await channel.close()


async def test_of_each_reason_to_refuse_frames_a_connection_logs_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "envelopes.transports.live")
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        for bad in 5 * ["{", '{"type": "none"}']:
            await channel.raw(bad)
            assert (await channel.next())["type"] == "error"
        lines = [one.message for one in caplog.records if "Refused a frame" in one.message]
        assert [line.rsplit(" ", 1)[1] for line in lines] == ["INVALID_JSON", "UNSUPPORTED_MESSAGE"]
        await channel.close()


async def test_a_refused_frame_leaves_nothing_to_the_garbage_collector() -> None:
    """Whoever sends many of them would have as much of the memory as comes between two searches."""
    nowhere = {"target": {"owner": "tester", "surfaceId": "none", "componentId": "root"}}
    async with live() as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        with left_over.exceptions() as search:
            for _ in range(5):
                for bad in ("{", '{"type": "none"}'):
                    await channel.raw(bad)
                    assert (await channel.next())["type"] == "error"
                assert (await channel.act(session, "beach:click", nowhere))["type"] == "error"
                assert (await channel.act(session, "beach:edit", {**nowhere, "value": 1}))["type"] == "error"
            assert search() == []
        await channel.close()
