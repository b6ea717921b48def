"""Files over HTTP for programs: sent with a message, kept before one, referred to, fetched; and what is refused."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from django.utils import timezone

from envelopes import artifacts
from envelopes.access import Principal
from envelopes.artifacts.storing import storage
from envelopes.models import Artifact, Event
from envelopes.providers.scripted import Say, text
from envelopes.runtime.tidying import Tidying
from envelopes.testing import create_session
from tests import pictures
from tests.desk import replies
from tests.envelopes.transports.program import Program, at_door

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

ANSWER = replies([Say([text("response", "Seen.")])])


def part(**data: Any) -> dict[str, Any]:
    return {"data": data, "metadata": {"partType": "artifact"}}


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def in_storage() -> list[str]:
    folders = storage().listdir("")[0] if storage().exists("") else []
    return [name for folder in folders for name in storage().listdir(folder)[1]]


async def keep(caller: Program, session: Any, file: SimpleUploadedFile, **more: str) -> Any:
    return await AsyncClient().post(
        f"/api/sessions/{session.public_id}/artifacts",
        {"file": file, **more},
        headers={"Authorization": f"Bearer {caller.token}"},
    )


async def test_a_file_comes_with_a_message_and_its_row_refers_to_it() -> None:
    async with at_door(ANSWER) as (caller, d):
        brought = part(name="../a.png", mimeType="image/png", bytes=coded(pictures.picture()), alt="A square")
        sent = {
            "text": "Look",
            "parts": [brought, {"data": {"x": 1}, "metadata": {"partType": "domain-data"}}],
        }
        answers = [await caller.say(d.session, sent, Idempotency_Key="k") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]

        message = await Event.objects.aget(kind="message")
        file = await Artifact.objects.aget()
        kept, other = message.data["parts"]
        assert kept["data"]["artifactId"] == file.artifact_id
        assert (kept["data"]["width"], kept["data"]["alt"], kept["data"]["name"]) == (
            40,
            "A square",
            "_a.png",
        )
        assert "bytes" not in str(message.data)
        assert other["data"] == {"x": 1}
        assert file.owner == f"peer:{caller.peer.pk}"
        # The repeat has left nothing.
        assert len(await sync_to_async(in_storage)()) == 1
        got = await caller.ask("get", kept["data"]["url"])
        assert b"".join([span async for span in got.streaming_content]) == pictures.picture()
        # The model reads of it, without the bytes.
        assert file.artifact_id in str(d.requests[0].messages)


async def test_a_file_that_is_kept_first_is_shown_by_a_message_that_refers_to_it() -> None:
    async with at_door(ANSWER) as (caller, d):
        answer = await keep(
            caller, d.session, SimpleUploadedFile("b.csv", b"a,b" * 400_000, "text/csv"), alt=" "
        )
        assert answer.status_code == 201
        kept = answer.json()
        assert (kept["sizeBytes"], kept["name"], kept["mimeType"]) == (1_200_000, "b.csv", "text/csv")
        shown = part(**{key: kept[key] for key in ("artifactId", "mimeType", "sizeBytes")})
        said = await caller.say(
            d.session,
            {"parts": [shown]},
        )
        assert said.status_code == 200
        message = await Event.objects.aget(kind="message")
        assert message.data["parts"][0]["data"]["url"] == kept["url"]
        assert "b.csv" in await d.html()


async def test_a_file_of_the_web_is_an_address() -> None:
    async with at_door(ANSWER) as (caller, d):
        away = part(artifactId="x", mimeType="text/html", sizeBytes=1, url="https://example.com/a.html")
        assert (await caller.say(d.session, {"parts": [away]})).status_code == 200


REFUSED = {
    "no base64": (part(name="a", mimeType="text/plain", bytes="%%%"), 400, "/parts/0/data/bytes"),
    "half a base64": (part(name="a", mimeType="text/plain", bytes="YQ"), 400, "/parts/0/data/bytes"),
    "no text": (part(name="a", mimeType="text/plain", bytes=[1]), 400, "/parts/0/data/bytes"),
    "bytes and an address": (
        part(mimeType="a/b", bytes="YQ==", url="https://a.example/"),
        400,
        "/parts/0/data/url",
    ),
    "a data address": (
        part(artifactId="a", mimeType="text/plain", sizeBytes=1, url="data:text/plain,a"),
        400,
        "/parts/0/data/url",
    ),
    "an unknown file": (
        part(artifactId="nosuchfile", mimeType="a/b", sizeBytes=1),
        400,
        "/parts/0/data/artifactId",
    ),
    "nothing": (part(), 400, "/parts/0/data/artifactId"),
    "too large": (part(name="a", mimeType="a/b", bytes=coded(b"x" * 2000)), 413, None),
}


@pytest.mark.parametrize("which", REFUSED)
async def test_what_is_refused_says_where_and_leaves_nothing(settings: Any, which: str) -> None:
    settings.BEACH_ARTIFACT_BYTES = 1_000
    given, status, path = REFUSED[which]
    async with at_door(ANSWER) as (caller, d):
        fine = part(name="fine.txt", mimeType="text/plain", bytes="YQ==")
        answer = await caller.say(d.session, {"text": "Look", "parts": [given, fine]})
        assert answer.status_code == status
        assert answer.json().get("path") == path
        assert not await Event.objects.aexists()
        assert not await Artifact.objects.aexists()
        assert await sync_to_async(in_storage)() == []


async def test_a_body_that_is_too_large_is_told_as_that(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000
    async with at_door(ANSWER) as (caller, d):
        answer = await caller.say(d.session, {"text": "x" * 20_000})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert answer.json()["limit"] == 10_000


async def test_only_the_owner_of_a_conversation_keeps_files_in_it_and_within_limits(settings: Any) -> None:
    settings.BEACH_ARTIFACT_BYTES, settings.BEACH_SESSION_ARTIFACT_BYTES = 1_000, 1_500
    async with at_door(ANSWER) as (caller, d):
        other = await sync_to_async(create_session)(Principal(owner_key="peer:99"), "tester")
        file = SimpleUploadedFile("a.txt", b"x" * 900, "text/plain")
        assert (await keep(caller, other, file)).status_code == 404
        large = SimpleUploadedFile("a.txt", b"x" * 1_001, "text/plain")
        assert (await keep(caller, d.session, large)).status_code == 413
        empty = await keep(caller, d.session, SimpleUploadedFile("e", b"", "nonsense"))
        assert (empty.status_code, empty.json()["mimeType"]) == (201, "application/octet-stream")
        file.seek(0)
        assert (await keep(caller, d.session, file)).status_code == 201
        file.seek(0)
        full = await keep(caller, d.session, file)
        assert (full.status_code, full.json()["limit"]) == (413, 1_500)
        none = await AsyncClient().post(
            f"/api/sessions/{d.session.public_id}/artifacts",
            {},
            headers={"Authorization": f"Bearer {caller.token}"},
        )
        assert (none.status_code, none.json()["code"]) == (400, "VALIDATION_FAILED")
        assert len(await sync_to_async(in_storage)()) == 2


async def test_a_file_that_no_message_shows_goes_after_a_while_with_its_bytes(settings: Any) -> None:
    settings.BEACH_UNNAMED_FILE_DAYS = 2
    async with at_door(ANSWER) as (caller, d):
        shown, waiting, fresh = [
            (await keep(caller, d.session, SimpleUploadedFile(name, b"abc"))).json()
            for name in ("shown.txt", "waiting.txt", "fresh.txt")
        ]
        said = await caller.say(d.session, {"text": "Look", "parts": [part(**shown)]})
        assert said.status_code == 200
        old = Artifact.objects.exclude(artifact_id=fresh["artifactId"])
        await old.aupdate(created_at=timezone.now() - timedelta(days=2, minutes=1))
        settings.BEACH_UNNAMED_FILE_DAYS = 0
        assert await sync_to_async(artifacts.forget_unnamed)() == 0
        settings.BEACH_UNNAMED_FILE_DAYS = 2
        await Tidying(run_it).sweep()
        left = {file.artifact_id async for file in Artifact.objects.all()}
        assert left == {shown["artifactId"], fresh["artifactId"]}
        assert len(await sync_to_async(in_storage)()) == 2
        late = await caller.say(d.session, {"text": "Now", "parts": [part(**waiting)]})
        assert (late.status_code, late.json()["path"]) == (400, "/parts/0/data/url")
        assert (await caller.say(d.session, {"text": "Now", "parts": [part(**fresh)]})).status_code == 200


async def run_it(_: str, work: Any) -> None:
    await work()
