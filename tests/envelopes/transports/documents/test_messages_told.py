"""What is said and what the system tells comes to who follows, as message envelopes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from jsonschema import Draft202012Validator

from envelopes.access import Principal
from envelopes.delivery import event_stream
from envelopes.models import Peer
from envelopes.providers.scripted import Fail
from envelopes.transports.documents.schemas import schema
from envelopes.transports.documents.shapes.message import MESSAGE_BYTES, MessageEnvelope
from envelopes.transports.documents.shapes.reading import read_envelope
from tests.desk import Desk, replies
from tests.envelopes.transports.documents.test_door import SCOPES, SCRIPT, sent, whole
from tests.envelopes.transports.documents.test_door import listen as documents
from tests.envelopes.transports.documents.test_messages import message, send
from tests.envelopes.transports.http.test_files import keep
from tests.envelopes.transports.http.test_http import PAY, asks
from tests.envelopes.transports.program import Program, at_door
from tests.envelopes.transports.sse.test_sse import Stream

pytestmark = pytest.mark.django_db(transaction=True)


async def listen(caller: Program, d: Desk, **headers: str) -> Stream:
    response = await caller.ask("get", f"/api/sessions/{d.session.public_id}/message-envelopes", **headers)
    assert response.status_code == 200, response.content
    return await Stream(response).seen("upToDate")


def told(stream: Stream) -> list[tuple[str, str, str]]:
    """Origin, label or sender, and words of each, which is an envelope of its schema."""
    found = []
    for event in stream.of("message"):
        Draft202012Validator(schema("message-envelope.v1.json")).validate(event.data)
        read_envelope(MessageEnvelope, json.dumps(event.data).encode(), MESSAGE_BYTES)
        payload: Any = event.data["payload"]
        who = (payload["security"].get("labels") or [payload["origin"].get("sender", {}).get("display")])[0]
        found.append((payload["origin"]["type"], who, payload["content"]["text"]))
    return found


async def test_what_is_said_and_who_waits_for_an_approval() -> None:
    async with at_door(asks("Paid."), PAY) as (caller, d):
        stream = await listen(caller, d)
        await d.say("Pay")
        await stream.seen("message", 3)
        staff = await sync_to_async(User.objects.create_superuser)("ruth")
        await d.decide("granted", who=Principal(user=staff, name="Ruth"))
        await stream.seen("message", 4)
        await stream.cut()
        again = await listen(caller, d, Last_Event_ID=str(stream.rows[0].seq))
        await again.cut()

    assert told(stream) == [
        ("web", "desk", "Pay"),
        ("node", "tester", "Let me pay."),
        ("system", "approval.waiting", "A tool waits for somebody's approval."),
        ("node", "tester", "Paid."),
    ]
    assert told(again) == told(stream)[1:]
    assert stream.of("message")[0].data["payload"]["security"]["trust"] == "user-trusted"


async def test_a_turn_that_failed() -> None:
    async with at_door(replies([Fail("overloaded", retryable=False)])) as (caller, d):
        stream = await listen(caller, d)
        await d.say("Hi")
        await stream.until(lambda one: ("system", "turn.failed", "A turn has failed.") in told(one))
        await stream.cut()


@pytest.mark.usefixtures("files")
async def test_files_are_attached() -> None:
    async with at_door(SCRIPT) as (caller, d):
        kept = await keep(caller, d.session, SimpleUploadedFile("a.csv", b"a,b", "text/csv"))
        name = kept.json()["artifactId"]
        stream = await listen(caller, d)
        said = message("Here", [{"kind": "file", "artifact_id": name.upper()}])
        assert (await send(caller, d, said)).status_code == 202
        await stream.seen("message")
        await stream.cut()

    content = stream.of("message")[0].data["payload"]["content"]
    assert content["attachments"] == [{"kind": "file", "artifact_id": name.upper()}]


async def test_documents_and_messages_come_by_streams_of_their_own() -> None:
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        messages, both = await listen(caller, d), await (await documents(caller, d)).seen("upToDate")
        await d.say("Hi")
        plain = {"v": 1, "surface": "s", "components": [{"type": "text", "props": {"value": "Hi"}}]}
        await sent(caller, d, whole(plain, surface="s"))
        await d.say("And now?")
        await messages.seen("message", 4)
        await both.seen("document")
        await messages.cut()
        await both.cut()

    assert {event.name for event in messages.rows} == {"message"}
    assert {event.name for event in both.rows} == {"document"}


@pytest.mark.parametrize("change", [{"is_active": False}, {"scopes": ["chat"]}])
async def test_who_may_read_no_longer_is_told_and_gets_nothing_more(
    monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(event_stream, "RECHECK_SECONDS", 0.0)
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        stream, other = await listen(caller, d), await (await documents(caller, d)).seen("upToDate")
        await Peer.objects.aupdate(**change)
        await stream.until(lambda one: one.over)
        await other.until(lambda one: one.over)
        await d.say("A secret")

    assert told(stream) == [("system", "session.closed", "This conversation is closed to you.")]
    assert stream.events[-1].data["code"] == other.events[-1].data["code"] == "changed"
    assert [event.name for event in other.rows] == []


async def test_who_may_listen() -> None:
    async with at_door(SCRIPT, scopes="chat") as (caller, d), at_door(SCRIPT, name="other") as (other, _):
        address = f"/api/sessions/{d.session.public_id}/message-envelopes"
        without = await caller.ask("get", address)
        theirs = await other.ask("get", address)
        nonsense = [
            await other.ask("get", f"/api/sessions/{_.session.public_id}/documents", Last_Event_ID=last)
            for last in ("x", "-1", "²")
        ]

    assert (without.status_code, without.json()["scope"]) == (403, "read")
    assert theirs.status_code == 404
    assert [one.status_code for one in nonsense] == [400] * 3


async def test_a_row_that_is_not_there_ends_the_stream() -> None:
    async with at_door(SCRIPT) as (caller, d):
        address = f"/api/sessions/{d.session.public_id}/message-envelopes"
        stream = Stream(await caller.ask("get", address, Last_Event_ID="9" * 18))
        await stream.until(lambda one: one.over)
        # What no database has for a number.
        beyond = await caller.ask("get", address, Last_Event_ID="9" * 19)

    assert [event.name for event in stream.events] == ["error"]
    assert beyond.status_code == 400
