"""The conformance fixtures of the live channel, and the behaviours around them, from a table (reading, 10.2, 10.4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes.log.read import rows_after
from envelopes.models import LiveChannel, Session
from envelopes.providers.scripted import Say, text
from envelopes.types import Json, JsonObject
from tests.desk import replies
from tests.envelopes.transports.live.client import Channel, live

pytestmark = pytest.mark.django_db(transaction=True)

FIXTURES = json.loads((Path(__file__).parent / "fixtures.json").read_text())
KINDS: dict[str, type | tuple[type, ...]] = {"number": (int, float), "string": str, "object": dict}
QUIET = replies([Say([text("response", "Done.")], "complete")])


def holds(frame: JsonObject, wanted: JsonObject) -> None:
    """``frame`` is what a fixture wants; what else it has is not looked at."""
    payload = frame["payload"]
    assert frame["type"] == wanted["type"], frame
    assert payload.get("code") == wanted.get("code"), frame
    for name, kind in wanted.get("has", {}).items():
        assert isinstance(payload[name], KINDS[kind]), name
    for name, value in wanted.get("payload", {}).items():
        assert payload[name] == value
    for name, value in wanted.get("details", {}).items():
        assert payload["details"][name] == value
    for name, value in wanted.get("session", {}).items():
        assert payload["session"][name] == value
    if "sentence" in wanted:
        assert wanted["sentence"] in payload["message"]
    violations = payload.get("details", {}).get("violations", []) if "code" in wanted else []
    for names in [wanted["violations"]] if "violations" in wanted else []:
        assert violations
        assert all(isinstance(violation[name], str) for violation in violations for name in names)
    if "fields" in wanted:
        assert sorted(violation["field"] for violation in violations) == sorted(wanted["fields"])


async def rows_of(session: Session) -> list[Any]:
    rows = await sync_to_async(rows_after)(session.pk, 0)
    return [row for row in rows if row.kind == "action" or row.data.get("reason") == "new"]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture["name"])
async def test_a_fixture(fixture: JsonObject, settings: Any) -> None:
    settings.BEACH_EXECUTOR = "worker"
    for name, value in fixture.get("settings", {}).items():
        setattr(settings, name, value)
    async with live(QUIET, name="conformance", contract=fixture.get("contract")) as (session, caller):
        channel = await Channel(token=caller.token).open()
        asked: JsonObject = {
            "sessionId": fixture.get("session", session.public_id),
            **fixture.get("subscribe", {}),
        }
        # As the kit does: whatever comes next is sent at once, without waiting for the ack.
        await channel.send("subscribe", asked, "subscribe")
        sent = await send_all(channel, session, fixture)
        if "closes" in fixture:
            assert await channel.closed() == fixture["closes"]
        else:
            await channel.pong()
        expected = fixture.get("expect", [])
        answers = [frame for frame in channel.frames if frame["type"] not in ("pong", "data")]
        if sent and answers and answers[0].get("requestId") == "subscribe":
            holds(answers.pop(0), {"type": "ack"})
        elif not expected:
            answers = answers[1:]
        assert len(answers) == len(expected), answers
        for frame, wanted in zip(answers, expected, strict=True):
            holds(frame, wanted)
        asked_for = [frame.get("requestId", "subscribe") for frame in answers]
        assert asked_for == (sent[: len(answers)] or ["subscribe"] * len(answers))
        if fixture.get("no_error"):
            assert [frame for frame in channel.frames if "error" in frame["type"]] == []
        if fixture.get("pending"):
            refused = await channel.act(session, "go")
            assert refused["payload"]["code"] == "NOT_SUBSCRIBED"
        await check_stored(session, fixture)
        if "closes" not in fixture:
            await channel.close()


async def send_all(channel: Channel, session: Session, fixture: JsonObject) -> list[str]:
    """Everything that the fixture sends after its subscribe; the ids of the requests."""
    names: list[str] = []
    for kind, payload in fixture.get("send", []):
        envelope: Json = {"sessionId": session.public_id, "type": "data:submit", "payload": payload}
        names.append(f"q{len(names)}")
        await channel.send(kind, envelope | fixture.get("envelope", {}), names[-1])
    for kind, payload in fixture.get("raw", []):
        names.append(f"q{len(names)}")
        await channel.send(kind, {"sessionId": session.public_id, **payload}, names[-1])
    return names


async def check_stored(session: Session, fixture: JsonObject) -> None:
    if "rows" in fixture:
        assert [row.kind for row in await rows_of(session)] == fixture["rows"]
    if "tools" in fixture:
        clicks = [row.data["action"] for row in await rows_of(session) if row.kind == "action"]
        assert [click.get("tool") for click in clicks] == fixture["tools"]
    if "host_context" in fixture:
        kept = LiveChannel.objects.filter(session=session).values_list("host_context", flat=True)
        assert await sync_to_async(kept.first)() == fixture["host_context"]
    for public_id, app in fixture.get("provisioned", {}).items():
        made = await Session.objects.aget(public_id=public_id)
        assert made.actor == app
