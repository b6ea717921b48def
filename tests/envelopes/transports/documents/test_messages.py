"""Programs say something by a message envelope, and what the system tells is one."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from jsonschema import Draft202012Validator

from envelopes.errors import Unavailable
from envelopes.models import Participant
from envelopes.transports.documents import messages
from envelopes.transports.documents.outbound import notification
from envelopes.transports.documents.schemas import schema
from envelopes.transports.documents.shapes.message import MESSAGE_BYTES, MessageEnvelope
from envelopes.transports.documents.shapes.reading import read_envelope
from tests.desk import Desk
from tests.envelopes.transports.documents.test_door import SCRIPT
from tests.envelopes.transports.documents.test_envelopes import ID
from tests.envelopes.transports.http.test_files import keep
from tests.envelopes.transports.program import Program, at_door

pytestmark = pytest.mark.django_db(transaction=True)


def message(text: str = "Hello", attachments: Any = (), **security: Any) -> dict[str, Any]:
    return {
        "v": 1,
        "id": ID,
        "timestamp": "2026-11-29T03:38:48Z",
        "payload": {
            "origin": {"type": "channel", "sender": {"handle": "root", "verified": True}},
            "content": {"text": text, "attachments": list(attachments)},
            "security": {"trust": "system", **security},
        },
        "limits": {"max_payload_bytes": 4_096},
    }


async def send(caller: Program, d: Desk, body: Any) -> Any:
    return await caller.ask("post", f"/api/sessions/{d.session.public_id}/message-envelopes", body)


async def test_a_message_is_said_and_answered_once() -> None:
    async with at_door(SCRIPT) as (caller, d):
        first = await send(caller, d, message())
        again = await send(caller, d, message())
        await d.quiet()
        said = await d.rows("message")
        texts = await d.texts()

    assert (first.status_code, first.json()["turn"]) == (202, 1)
    assert again.json() == first.json()
    # Who said it is known by the token, whatever the envelope claims.
    assert [(row.data["text"], row.data["name"]) for row in said] == [("Hello", "desk")]
    assert texts == ["Hello"]


@pytest.mark.usefixtures("files")
async def test_a_file_of_the_conversation_comes_along() -> None:
    async with at_door(SCRIPT) as (caller, d):
        kept = await keep(caller, d.session, SimpleUploadedFile("a.csv", b"a,b", "text/csv"))
        name = kept.json()["artifactId"].upper()
        sent = await send(caller, d, message(attachments=[{"kind": "file", "artifact_id": name}]))
        await d.quiet()
        (said,) = await d.rows("message")

    assert sent.status_code == 202, sent.content
    data = said.data["parts"][0]["data"]
    assert (data["artifactId"], data["mimeType"], data["sizeBytes"]) == (name.lower(), "text/csv", 3)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({**message(), "v": 2}, "v"),
        ({**message(), "limits": {"max_payload_bytes": 10}}, "limits.max_payload_bytes"),
        (message(replay_protection={"nonce": "n" * 16, "timestamp_unix_ms": 1}),
         "payload.security.replay_protection.timestamp_unix_ms"),
        (message(attachments=[{"kind": "file", "artifact_id": ID}]), "/parts/0/data/artifactId"),
    ],
)  # fmt: skip
async def test_what_cannot_be_said(body: Any, path: str) -> None:
    async with at_door(SCRIPT) as (caller, d):
        response = await send(caller, d, body)
        rows = await d.rows()

    assert response.status_code in (400, 404), response.content
    assert response.json().get("path", path) == path
    assert rows == []


async def test_a_nonce_counts_once_and_a_repeat_is_no_second_time() -> None:
    now = {"nonce": "n" * 16, "timestamp_unix_ms": int(time.time() * 1000)}
    async with at_door(SCRIPT) as (caller, d):
        first = await send(caller, d, message(replay_protection=now))
        again = await send(caller, d, message(replay_protection=now))
        other = await send(caller, d, {**message(replay_protection=now), "id": ID[::-1]})
        await d.quiet()

    assert (first.status_code, again.status_code) == (202, 202)
    assert other.json()["path"] == "payload.security.replay_protection.nonce"


async def test_what_could_not_be_taken_may_come_again_and_nothing_else_by_its_nonce(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = {"nonce": "n" * 16, "timestamp_unix_ms": int(time.time() * 1000)}

    def away(*args: Any, **more: Any) -> Any:
        raise Unavailable("Later.")

    async with at_door(SCRIPT) as (caller, d), at_door(SCRIPT, name="second") as (_, e):
        await Participant.objects.filter(session=e.session, role="owner").aupdate(
            owner_key=f"peer:{caller.peer.pk}"
        )
        with monkeypatch.context() as patched:
            patched.setattr(messages, "post_message", away)
            refused = await send(caller, d, message(replay_protection=now))
        elsewhere = await send(caller, e, message(replay_protection=now))
        again = await send(caller, d, message(replay_protection=now))
        await d.quiet()

    assert (refused.status_code, again.status_code) == (503, 202)
    assert elsewhere.json()["path"] == "payload.security.replay_protection.nonce"


async def test_another_conversation_is_not_this_one() -> None:
    body = message()
    body["payload"]["origin"]["conversation_id"] = "elsewhere"
    async with at_door(SCRIPT) as (caller, d):
        response = await send(caller, d, body)

    assert response.json()["path"] == "payload.origin.conversation_id"


def test_what_the_system_tells_is_an_envelope() -> None:
    made = notification(
        "s1", 3, datetime(2026, 11, 29, 3, 38, 48, tzinfo=UTC), "turn.failed", "A turn has failed."
    )

    Draft202012Validator(schema("message-envelope.v1.json")).validate(made)
    assert read_envelope(MessageEnvelope, json.dumps(made).encode(), MESSAGE_BYTES).id == made["id"]
    assert made["payload"]["origin"]["type"] == "system"
