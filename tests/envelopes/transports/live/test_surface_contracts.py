"""What an agent declares for one surface holds beside the contract of the conversation, until that surface ends."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.errors import NotFound, ValidationFailed
from envelopes.models import Event, LiveChannel
from envelopes.providers.scripted import Call, Say, data, text
from envelopes.registries.tools import Tool
from envelopes.transports.live import ContractRefused, declare
from envelopes.types import JsonObject
from tests.desk import replies
from tests.envelopes.transports.live.client import Channel, live, reading
from tests.envelopes.transports.live.test_drawn import CHANNEL, SHOW, surface

pytestmark = pytest.mark.django_db(transaction=True)

WHOLE: JsonObject = {"actionSpec": {"greet": {}}}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
OF_FORM: JsonObject = {
    "actionSpec": {"pay": {"schema": SCHEMA}},
    "streamSpec": {"ticks": {"schema": SCHEMA, "replay": "all", "complete": True}},
}
GONE = surface({"version": "v0.9", "deleteSurface": {"surfaceId": "form"}})
DONE = text("response", "Done.")


class Nothing(BaseModel):
    pass


async def of_form(context: Any, args: Any) -> Any:
    await sync_to_async(declare)(context.session_id, OF_FORM, surface="form")


DECLARES = Tool("declares", "Declares.", Nothing, of_form)


async def test_it_holds_from_when_it_is_declared_until_its_surface_is_gone() -> None:
    tick = data("domain-data", {"n": 1}, channel="ticks", complete=True)
    script = replies(
        [Call("declares", {})], [Say([SHOW, tick, DONE])], [Say([DONE])], [Say([GONE, DONE])], [Say([tick])]
    )
    async with live(script, DECLARES, contract=WHOLE) as (session, caller):
        channel = await Channel(token=caller.token).open()
        ack = await channel.subscribe(session)
        assert set(ack["payload"]["session"]["actionSpec"]) == {"greet"}
        refused = await channel.act(session, "pay", {"n": 1})
        assert refused["payload"]["code"] == "CONTRACT_VIOLATION"
        await channel.act(session, "beach:message", {"text": "Go"})
        rendered = await channel.until(lambda frame: frame["type"] == "render")
        # Of the whole, and at the surface what is of that.
        assert set(rendered["payload"]["session"]["actionSpec"]) == {"greet", "pay"}
        assert rendered["payload"]["session"]["surfaces"] == [
            {"channel": CHANNEL, "owner": "tester", "surfaceId": "form", **OF_FORM}
        ]
        await channel.settled()
        assert [one["payload"] for one in channel.on("ticks")] == [{"n": 1}]
        wrong = await channel.act(session, "pay", {"n": "one"})
        assert [one["field"] for one in wrong["payload"]["details"]["violations"]] == ["pay.data.n"]
        assert (await channel.act(session, "pay", {"n": 1}))["type"] == "ack"
        await channel.settled()
        await channel.act(session, "greet")
        ended = await channel.until(lambda frame: frame["type"] == "render")
        await channel.settled()
        assert set(ended["payload"]["session"]["actionSpec"]) == {"greet"}
        assert "streamSpec" not in ended["payload"]["session"]
        assert (await channel.act(session, "pay", {"n": 1}))["payload"]["code"] == "CONTRACT_VIOLATION"
        kept = await reading(session, lambda: LiveChannel.objects.get(session=session).surfaces)
        assert kept == []
        submitted = Event.objects.filter(session=session, kind="action").order_by("seq")
        names = await reading(session, lambda: [row.data["action"]["name"] for row in submitted])
        assert names == ["pay", "greet"]
        await channel.close()


async def test_a_clash_is_refused_and_changes_nothing() -> None:
    async with live(contract=WHOLE) as (session, caller):
        one = sync_to_async(declare)
        await one(session.public_id, OF_FORM, surface="form")
        # The same shape twice is one; another one is refused, whichever of the two comes later.
        await one(session.public_id, {"actionSpec": {"pay": {"schema": SCHEMA}}}, surface="other")
        for clashing, where in (
            ({"actionSpec": {"greet": {"schema": SCHEMA}}}, {"surface": "third"}),
            ({"actionSpec": {"pay": {}}}, {"surface": "other"}),
            ({"actionSpec": {"ticks": {}}}, {"surface": "other"}),
            ({"actionSpec": {"pay": {}}}, {}),
            ({"streamSpec": {"_ggui:x": {"schema": SCHEMA}}}, {"surface": "third"}),
        ):
            with pytest.raises(ContractRefused):
                await one(session.public_id, clashing, **where)
        for wrong, kind in (("", ValidationFailed), ("x" * 1_001, ValidationFailed)):
            with pytest.raises(kind):
                await one(session.public_id, OF_FORM, surface=wrong)
        with pytest.raises(NotFound):
            await one("nowhere", OF_FORM, surface="form")
        channel = await Channel(token=caller.token).open()
        ack = await channel.subscribe(session)
        assert ack["payload"]["session"]["actionSpec"] == {"greet": {}, "pay": {"schema": SCHEMA}}
        # None ends one of them, and leaves the others.
        await one(session.public_id, None, surface="other")
        await one(session.public_id, None, surface="form", owner="somebody else")
        kept = await reading(session, lambda: LiveChannel.objects.get(session=session).surfaces)
        assert [each["surfaceId"] for each in kept] == ["form"]
        await channel.close()
