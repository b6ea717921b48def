"""Files over HTTP: to whom, with which headers, in ranges; and which of them are pictures."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from envelopes import artifacts, peers
from envelopes.access import COOKIE, new_anonymous_owner
from envelopes.artifacts import Chunk, serving, stored
from envelopes.artifacts.pictures import PIXELS, SIDE
from envelopes.delivery.envelope import envelope_for
from envelopes.log.append import writing
from envelopes.models import Artifact, ArtifactPiece, Session
from envelopes.quotas import Quota
from envelopes.registries.transports import Connection, Transport
from envelopes.testing import create_session
from tests import factories, pictures
from tests.envelopes.transports.program import program

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]

DATA = bytes(range(256)) * 1000


def _write(session: Session, content: bytes, mime_type: str, **chunk: Any) -> str:
    with stored(session.public_id, content) as kept, writing(session.pk) as log:
        part = artifacts.record(log.session, "sally", Chunk(mime_type=mime_type, **chunk), kept)
        assert part is not None
        return str(part["data"]["artifactId"])


def _three(session: Session) -> str:
    """``DATA`` in three pieces."""
    own = _write(session, DATA[:1000], "text/csv", name="data.csv")
    _write(session, DATA[1000:100_000], "", artifact_id=own, append=True)
    return _write(session, DATA[100_000:], "", artifact_id=own, append=True, last_chunk=True)


@pytest.fixture
async def mine() -> tuple[AsyncClient, Session]:
    """A browser, and a conversation of its own."""
    who, cookie = new_anonymous_owner()
    client = AsyncClient()
    client.cookies[COOKIE] = cookie
    return client, await sync_to_async(create_session)(who, "sally")


async def body(answer: Any) -> bytes:
    if not answer.streaming:
        return bytes(answer.content)
    return b"".join([span async for span in answer.streaming_content])


RANGES = {
    "": (200, 0, len(DATA)),
    "bytes=0-9": (206, 0, 10),
    "bytes=990-1009": (206, 990, 1010),
    "bytes=500-200000": (206, 500, 200_001),
    "bytes=255990-": (206, 255_990, 256_000),
    "bytes=255990-999999999999": (206, 255_990, 256_000),
    "bytes=-10": (206, 255_990, 256_000),
    "bytes=-999999999": (206, 0, 256_000),
    "bytes=256000-": (416, 0, 0),
    "bytes=-0": (416, 0, 0),
    # What is no range, or several, is all of it (RFC 9110, 14.2).
    "bytes=9-3": (200, 0, len(DATA)),
    "bytes=-": (200, 0, len(DATA)),
    "bytes=0-1,5-6": (200, 0, len(DATA)),
    "lines=0-9": (200, 0, len(DATA)),
    "bytes=" + "9" * 500 + "-": (200, 0, len(DATA)),
}


@pytest.mark.parametrize("asked", RANGES)
async def test_any_range_of_a_file_in_pieces(mine: tuple[AsyncClient, Session], asked: str) -> None:
    client, session = mine
    own = await sync_to_async(_three)(session)
    status, start, stop = RANGES[asked]
    answer = await client.get(f"/artifacts/{own}", headers={"Range": asked} if asked else {})
    assert answer.status_code == status
    assert await body(answer) == DATA[start:stop]
    if status == 206:
        assert answer["Content-Range"] == f"bytes {start}-{stop - 1}/{len(DATA)}"
    if status == 416:
        assert answer["Content-Range"] == f"bytes */{len(DATA)}"
    else:
        assert answer["Content-Length"] == str(stop - start)
    head = await client.head(f"/artifacts/{own}")
    assert (head["Content-Length"], await body(head)) == (str(len(DATA)), b"")


async def test_the_etag_is_the_digest_and_spares_the_bytes(mine: tuple[AsyncClient, Session]) -> None:
    client, session = mine
    own = await sync_to_async(_three)(session)
    first = await client.get(f"/artifacts/{own}")
    assert first["ETag"] == f'"{hashlib.sha256(DATA).hexdigest()}"'
    again = await client.get(f"/artifacts/{own}", headers={"If-None-Match": f'"x", {first["ETag"]}'})
    assert (again.status_code, await body(again)) == (304, b"")
    part = await client.get(f"/artifacts/{own}", headers={"Range": "bytes=0-1", "If-Range": '"other"'})
    assert (part.status_code, len(await body(part))) == (200, len(DATA))
    await sync_to_async(_write)(session, b"new", "", artifact_id=own)
    changed = await client.get(f"/artifacts/{own}", headers={"If-None-Match": first["ETag"]})
    assert (changed.status_code, await body(changed)) == (200, b"new")


async def test_who_may_see_the_conversation_gets_its_files_and_nobody_else(
    mine: tuple[AsyncClient, Session],
) -> None:
    client, session = mine
    own = await sync_to_async(_write)(session, b"x", "text/plain")
    staff = await sync_to_async(factories.make_user)("ruth", staff=True, permissions=["view_session"])
    clerk = await sync_to_async(factories.make_user)("carl", staff=True)
    stranger = await sync_to_async(factories.make_user)("sam")
    told = {}
    for user in (staff, clerk, stranger):
        other = AsyncClient()
        await other.aforce_login(user)
        told[user.username] = (await other.get(f"/artifacts/{own}")).status_code
    assert told == {"ruth": 200, "carl": 404, "sam": 404}
    assert (await client.get(f"/artifacts/{own}")).status_code == 200
    assert (await AsyncClient().get(f"/artifacts/{own}")).status_code == 404
    assert (await client.post(f"/artifacts/{own}")).status_code == 405


@pytest.mark.parametrize("address", ["/artifacts/{}", "/api/artifacts/{}"])
async def test_a_program_gets_files_of_its_own_conversations_with_a_token_that_may_read(address: str) -> None:
    caller, other = await program("desk"), await program("other")
    mute = await program("mute", scopes="chat")
    session = await sync_to_async(create_session)(peers.principal_of_peer(caller.peer), "sally")
    silent = await sync_to_async(create_session)(peers.principal_of_peer(mute.peer), "sally")
    own = address.format(await sync_to_async(_write)(session, b"x", "text/plain"))
    muted = address.format(await sync_to_async(_write)(silent, b"x", "text/plain"))
    assert await body(await caller.ask("get", own)) == b"x"
    assert (await other.ask("get", own)).status_code == 404
    assert (await mute.ask("get", muted)).status_code in (403, 404)
    assert (await caller.ask("get", own, Authorization="Bearer beach_x")).status_code in (401, 404)


PICTURES = {
    "png": ("image/png", pictures.picture(), (40, 30)),
    "jpeg": ("image/jpeg", pictures.picture("JPEG"), (40, 30)),
    "gif": ("image/gif", pictures.picture("GIF"), (40, 30)),
    "webp": ("IMAGE/WEBP; q=1", pictures.picture("WEBP"), (40, 30)),
    "svg": ("image/svg+xml", pictures.SVG, (0, 0)),
    "svg called png": ("image/png", pictures.SVG, (0, 0)),
    "html called png": ("image/png", pictures.HTML, (0, 0)),
    "html behind a png": ("text/html", pictures.picture() + pictures.HTML, (0, 0)),
    "jpeg called png": ("image/png", pictures.picture("JPEG"), (0, 0)),
    "too wide": ("image/png", pictures.png_that_says(SIDE + 1, 1), (0, 0)),
    "too many pixels": ("image/png", pictures.png_that_says(SIDE, PIXELS // SIDE + 1), (0, 0)),
    "a bomb": ("image/png", pictures.png_that_says(2**31 - 1, 2**31 - 1), (0, 0)),
    "no size": ("image/png", pictures.png_that_says(0, 0), (0, 0)),
    "cut": ("image/png", pictures.picture()[:20], (0, 0)),
    "empty": ("image/png", b"", (0, 0)),
    "bmp": ("image/bmp", pictures.picture("BMP"), (0, 0)),
}


@pytest.mark.parametrize("which", PICTURES)
async def test_only_what_was_looked_at_and_is_a_picture_is_given_out_as_one(
    mine: tuple[AsyncClient, Session], which: str
) -> None:
    client, session = mine
    mime_type, content, size = PICTURES[which]
    own = await sync_to_async(_write)(session, content, mime_type, last_chunk=True)
    file = await Artifact.objects.aget()
    assert (file.width, file.height) == size
    answer = await client.get(f"/artifacts/{own}")
    assert answer["Content-Type"] == (file.mime_type if size != (0, 0) else "application/octet-stream")
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert await body(answer) == content


async def test_a_large_picture_is_a_file(mine: tuple[AsyncClient, Session], monkeypatch: Any) -> None:
    monkeypatch.setattr("envelopes.artifacts.pictures.BYTES", 50)
    _, session = mine
    await sync_to_async(_write)(session, pictures.picture(), "image/png", last_chunk=True)
    assert (await Artifact.objects.aget()).width == 0


async def test_a_large_file_is_never_in_memory_as_a_whole(mine: tuple[AsyncClient, Session]) -> None:
    client, session = mine
    size = 20 * 1024 * 1024
    own = await sync_to_async(_write)(session, bytes(size), "text/csv", last_chunk=True)
    tracemalloc.start()
    try:
        answer = await client.get(f"/artifacts/{own}")
        got = 0
        async for span in answer.streaming_content:
            got += len(span)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert got == size
    assert most < size / 4


@pytest.mark.parametrize(
    ("kind", "attaches", "room", "expected"),
    [
        ("buffered", True, 10**6, "bytes"),
        ("buffered", True, 3, "url"),
        ("buffered", False, 10**6, "url"),
        ("streaming", True, 10**6, "url"),
    ],
)
def test_a_transport_that_can_attach_gets_the_bytes_and_any_other_a_link(
    monkeypatch: Any, kind: Any, attaches: bool, room: int, expected: str
) -> None:
    monkeypatch.setattr("envelopes.artifacts.attaching.ATTACHED_BYTES", room)
    session = factories.make_session(factories.make_visitor()[0])
    turn = factories.make_turn(session)
    own = _write(session, DATA[:50], "text/csv", name="data.csv", last_chunk=True)
    data = {"artifactId": own, "mimeType": "text/csv", "sizeBytes": 50, "url": f"/artifacts/{own}"}
    factories.add_part(turn, "artifact", data=data)
    away = {**data, "artifactId": "x", "url": "https://example.com/x"}
    factories.add_part(turn, "artifact", data=away)
    factories.settle_turn(turn)
    made, other = envelope_for(turn, connection=Connection("acme.mail", kind, attaches))["parts"]
    assert ("bytes" in made["data"], "url" in made["data"]) == (expected == "bytes", expected == "url")
    if expected == "bytes":
        assert base64.b64decode(made["data"]["bytes"]) == DATA[:50]
    assert other["data"] == away


def test_a_transport_says_that_it_attaches() -> None:
    post = Transport("acme.post", "buffered", capabilities=frozenset({"attachments"}))
    assert (post.connection.attaches, Transport("acme.line", "buffered").connection.attaches) == (True, False)


# -- how many at once --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("BEACH_DOWNLOADS_PER_CALLER", 429, b"You have 2 downloads open"),
        ("BEACH_DOWNLOADS", 503, b"The server has 2 downloads open"),
    ],
)
async def test_so_many_are_sent_at_once_and_the_next_is_told_to_come_again(
    mine: tuple[AsyncClient, Session],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    status: int,
    words: bytes,
) -> None:
    # Of its own: what other tests of this process have left open counts until the collector has been there.
    counted = Quota("downloads", "BEACH_DOWNLOADS_PER_CALLER", "BEACH_DOWNLOADS")
    monkeypatch.setattr(serving, "downloads", counted)
    client, session = mine
    own = await sync_to_async(_three)(session)
    setattr(settings, name, 2)
    for url in (f"/artifacts/{own}", f"/api/artifacts/{own}"):
        sent = [await client.get(url) for _ in range(2)]
        assert [answer.status_code for answer in sent] == [200, 200]
        refused = await client.get(url)
        assert (refused.status_code, refused.headers["Retry-After"]) == (status, "5")
        assert words in refused.content
        # What has no bytes to send holds nothing open.
        assert (await client.head(f"/artifacts/{own}")).status_code == 200
        assert (await client.get(url, headers={"If-None-Match": sent[0].headers["ETag"]})).status_code == 304
        for answer in sent:
            answer.close()
        again = await client.get(url)
        assert await body(again) == DATA
        again.close()


async def test_a_file_whose_bytes_are_gone_is_refused_before_it_begins(
    mine: tuple[AsyncClient, Session], files: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client, session = mine
    own = await sync_to_async(_three)(session)
    first = await ArtifactPiece.objects.order_by("pk").afirst()
    assert first is not None
    (files / first.file).unlink()

    for url in (f"/artifacts/{own}", f"/api/artifacts/{own}"):
        refused = await client.get(url)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
        assert b"cannot be read at the moment" in refused.content
        there = await client.get(url, headers={"Range": "bytes=1000-"})
        assert await body(there) == DATA[1000:]
    assert caplog.text.count(f"The file {own} cannot be read") == 2


async def test_whoever_leaves_while_a_thread_reads_closes_the_file_when_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads, goes_on, closed = threading.Event(), threading.Event(), threading.Event()

    def spans(*given: object) -> Iterator[bytes]:
        try:
            reads.set()
            assert goes_on.wait(30)
            yield b"piece"
        finally:
            closed.set()

    monkeypatch.setattr(serving, "spans", spans)
    download = asyncio.create_task(anext(serving._streamed([], 0, 1)))
    assert await asyncio.to_thread(reads.wait, 30)
    download.cancel()
    with pytest.raises(asyncio.CancelledError):
        await download
    assert not closed.is_set()
    goes_on.set()
    assert await asyncio.to_thread(closed.wait, 30)
