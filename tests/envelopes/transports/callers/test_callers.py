"""Programs as principals: a peer and a service begin turns, own what they began, and get what their cards name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from envelopes import access
from envelopes.access import Principal, program
from envelopes.approvals import service as approvals
from envelopes.errors import Forbidden, NotFound
from envelopes.models import Approval, Session
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.transports import transports
from envelopes.types import JsonObject
from tests import factories
from tests.desk import Desk, Script, desk, replies
from tests.envelopes.transports.callers.transport import CALLERS, CALLING

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.urls("tests.envelopes.transports.callers.urls"),
]

PEER, SERVICE = CALLERS["t-desk"], CALLERS["t-cron"]
SUMMED_UP = replies([Say([text("llm-context", "Three were asked."), text("response", "Two of them came.")])])


@asynccontextmanager
async def house(script: Script, *tools: Any) -> AsyncIterator[Desk]:
    with transports.including(CALLING):
        async with desk(script, *tools) as here:
            yield here


async def call(
    token: str, key: str = "k1", message_id: str = "m1", said: str = "Who came?", **more: Any
) -> tuple[int, JsonObject]:
    response: Any = await AsyncClient().post(
        f"/call/{key}/",
        {"id": message_id, "text": said, **more},
        content_type="application/json",
        headers={"authorization": f"Bearer {token}"},
    )
    return response.status_code, response.json()


def _said(envelope: JsonObject) -> list[tuple[str, str]]:
    return [(part["metadata"]["partType"], part["text"]) for part in envelope["parts"]]


async def _began(who: Principal) -> Session:
    return await access.owned_sessions(who).aget()


async def test_each_gets_the_envelope_of_its_turn_with_what_its_card_names() -> None:
    async with house(SUMMED_UP):
        answers = {token: await call(token, key=token) for token in CALLERS}

    assert [status for status, _ in answers.values()] == [200, 200]
    told = [("llm-context", "Three were asked."), ("response", "Two of them came.")]
    assert _said(answers["t-desk"][1]) == told
    assert _said(answers["t-cron"][1]) == told[1:]


async def test_a_turn_keeps_which_program_began_it() -> None:
    async with house(SUMMED_UP):
        for token in CALLERS:
            await call(token, key=token)

        kept = [(await (await _began(who)).turns.aget()).originators for who in (PEER, SERVICE)]

    assert kept == [
        [{"principal": "peer:desk", "kind": "peer", "consumes": ["acme.tally", "llm-context"]}],
        [{"principal": "service:cron", "kind": "service", "consumes": []}],
    ]


async def test_what_came_with_its_message_is_on_the_row_and_read_by_the_model() -> None:
    guests = {"data": {"asked": ["Ann", "Bo"]}, "metadata": {"partType": "domain-data"}}
    async with house(SUMMED_UP) as here:
        await call("t-desk", parts=[guests])
        row = await (await _began(PEER)).events.aget(kind="message")

        assert (row.data["name"], row.data["parts"]) == ("Front desk", [guests])
        assert '{"asked":["Ann","Bo"]}' in str(here.requests[0].messages)


async def test_a_repeat_gets_the_same_envelope_and_begins_nothing() -> None:
    async with house(SUMMED_UP) as here:
        first, again = await call("t-desk"), await call("t-desk")

        assert first == again
        assert len(here.requests) == 1


async def test_a_conversation_is_its_own_and_whoever_is_unknown_begins_none() -> None:
    async with house(SUMMED_UP):
        await call("t-desk")
        status, refused = await call("t-cron")
        unknown, _ = await call("made-up", key="k2")
        session = await _began(PEER)

    assert (status, refused["code"]) == (400, "conflict")
    assert unknown == 403
    assert await Session.objects.exclude(pk=session.pk).filter(turns__isnull=False).acount() == 0
    with pytest.raises(NotFound):
        await sync_to_async(access.get_session)(SERVICE, session.public_id)


async def test_it_waits_for_a_person_and_decides_nothing_itself() -> None:
    ask = [Call("refund", {"order": "A17", "amount": 4})]
    async with house(replies(ask, [Say([text("response", "Paid.")])]), factories.make_tool()) as here:
        waiting = await call("t-desk")
        approval = await Approval.objects.aget()
        with pytest.raises(Forbidden):
            await sync_to_async(approvals.decide)(approval.approval_id, "granted", PEER)
        staff = await sync_to_async(factories.make_user)(staff=True, permissions=["decide_approval"])
        await sync_to_async(approvals.decide)(
            approval.approval_id, "granted", factories.make_principal(staff), source="admin"
        )
        await here.quiet()
        answered = await call("t-desk")

    assert waiting == (202, {"status": "suspended"})
    assert answered[0] == 200
    assert _said(answered[1]) == [("response", "Paid.")]


@pytest.mark.parametrize("identity", ["", "-x", "a b", "a:b", "ä", "x" * 57, "a\n"])
def test_a_program_has_a_name_that_nothing_else_can_have(identity: str) -> None:
    with pytest.raises(ValueError, match="a program can be called"):
        program("peer", identity)
