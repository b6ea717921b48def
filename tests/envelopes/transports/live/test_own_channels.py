"""Channels of the agent's own: declared, checked before anything is stored, folded, kept and completed as declared."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes.providers.scripted import Say, data, text
from envelopes.transports.live import ContractRefused, declare
from envelopes.transports.live.contracts import Receiver
from envelopes.types import JsonObject
from tests.desk import replies
from tests.envelopes.transports.live.client import Channel, live

pytestmark = pytest.mark.django_db(transaction=True)


def number(name: str) -> JsonObject:
    return {"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]}


CONTRACT: JsonObject = {
    "streamSpec": {
        "ticks": {"schema": number("n"), "replay": "all", "complete": True},
        "state": {"schema": number("n"), "mode": "replace", "replay": "latest"},
        "beat": {"schema": number("n")},
    }
}


def to(channel: str, n: Any, **metadata: Any) -> JsonObject:
    return data("domain-data", {"n": n}, channel=channel, **metadata)


DONE = text("response", "Done.")


async def said(channel: Channel, session: Any) -> None:
    await channel.act(session, "beach:message", {"text": "Go"})
    await channel.settled()


async def test_what_is_declared_travels_on_its_channel_and_is_replayed_as_declared() -> None:
    parts = [
        to("ticks", 1),
        to("state", 1),
        to("beat", 1),
        to("state", 2),
        to("ticks", 2, complete=True),
        DONE,
    ]
    async with live(replies([Say(parts)]), contract=CONTRACT) as (session, caller):
        channel = await Channel(token=caller.token).open()
        ack = await channel.subscribe(session)
        assert set(ack["payload"]["session"]["streamSpec"]) == {"ticks", "state", "beat"}
        await said(channel, session)
        assert [one["payload"] for one in channel.on("ticks")] == [{"n": 1}, {"n": 2}]
        assert [one.get("complete") for one in channel.on("ticks")] == [None, True]
        assert {one["mode"] for one in channel.on("state")} == {"replace"}
        folded = Receiver()
        for one in channel.data:
            assert folded.take(one)
        await channel.close()

        back = await Channel(token=caller.token).open()
        await back.subscribe(session, fromSeq=0)
        await back.until(lambda frame: frame["payload"].get("seq") == channel.seqs[-1])
        kept = [one for one in channel.data if one["channel"] != "beat"]
        kept.remove(channel.on("state")[0])
        assert back.data == kept
        # What the contract of now does not have is not replayed.
        await sync_to_async(declare)(
            session.public_id, {"streamSpec": {"state": CONTRACT["streamSpec"]["state"]}}
        )
        later = await Channel(token=caller.token).open()
        await later.subscribe(session, fromSeq=0)
        await later.until(lambda frame: frame["payload"].get("seq") == channel.seqs[-1])
        assert later.on("ticks") == []
        assert later.on("state") == channel.on("state")[-1:]
        for one in (back, later):
            await one.close()


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (to("nowhere", 1), "not declared"),
        (to("_ggui:preview", 1), "not declared"),
        (to("_ggui:lifecycle", 1), "not declared"),
        (to("ticks", "one"), "ticks.payload.n"),
        (to("beat", 1, complete=True), "cannot be completed"),
        (to("ticks", 1, complete="yes"), "true or false"),
        (text("response", "Hi", channel="ticks"), "Only data"),
    ],
)
async def test_what_does_not_fit_is_refused_and_the_agent_hears_why(part: JsonObject, told: str) -> None:
    requests: list[Any] = []
    script = replies([Say([part])], [Say([DONE])])

    def listening(request: Any) -> Any:
        requests.append(request)
        return script(request)

    async with live(listening, contract=CONTRACT) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        await said(channel, session)
        assert told in str(requests[1].messages)
        assert {one["channel"] for one in channel.data} & {"ticks", "beat", "nowhere"} == set()
        await channel.close()


async def test_nothing_follows_on_a_channel_that_is_complete() -> None:
    script = replies([Say([to("ticks", 1, complete=True), DONE])], [Say([to("ticks", 2)])], [Say([DONE])])
    async with live(script, contract=CONTRACT) as (session, caller):
        channel = await Channel(token=caller.token).open()
        await channel.subscribe(session)
        await said(channel, session)
        await said(channel, session)
        assert [one["payload"] for one in channel.on("ticks")] == [{"n": 1}]
        # A contract that is declared anew begins anew.
        await sync_to_async(declare)(session.public_id, CONTRACT)
        await channel.close()


async def test_a_contract_that_is_wrong_changes_nothing() -> None:
    async with live(contract=CONTRACT) as (session, caller):
        wrong = {"streamSpec": {"_ggui:preview": {"schema": number("n")}, "x": {"schema": {}}}}
        with pytest.raises(ContractRefused) as refused:
            await sync_to_async(declare)(session.public_id, wrong)
        sentence = (
            "Stream channel '_ggui:preview' is in the reserved '_ggui:' namespace — server-owned channels cannot be "
            "declared in agent streamSpec"
        )
        assert sentence in refused.value.message
        assert len(refused.value.violations) == 2
        channel = await Channel(token=caller.token).open()
        ack = await channel.subscribe(session)
        assert set(ack["payload"]["session"]["streamSpec"]) == {"ticks", "state", "beat"}
        await channel.close()
