"""Files that are written in pieces: appended, replaced, ended; by whom, how often, and what a crash leaves."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.utils import timezone
from pydantic import BaseModel

from envelopes import artifacts
from envelopes.artifacts import Chunk, stored
from envelopes.artifacts.storing import storage, sweep
from envelopes.checks.registered import artifact_storage
from envelopes.delivery.envelope import envelope_for
from envelopes.errors import BeachError, Conflict, Forbidden, TooLarge, ValidationFailed
from envelopes.intake import post_message
from envelopes.log.append import writing
from envelopes.models import Artifact, ArtifactPiece, Session, Turn
from envelopes.part_types.artifact import is_whole
from envelopes.protocol.parts import Metadata, Part
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.session_state import live_sessions
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, desk, replies
from tests.shared import case, needs_shared

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]


class Nothing(BaseModel):
    pass


def writer(run: Callable[[ToolContext], Any]) -> Tool:
    async def called(context: ToolContext, args: Nothing) -> Json:
        return await run(context)

    return Tool("write", "", Nothing, called)


SCRIPT = ([Call("write", {})], [Say([text("response", "There.")])])


def content(artifact_id: str) -> bytes:
    file = Artifact.objects.get(artifact_id=artifact_id)
    return artifacts.read(file.session_id, artifact_id)[2]


def in_storage() -> set[str]:
    folders = storage().listdir("")[0] if storage().exists("") else []
    return {f"{folder}/{name}" for folder in folders for name in storage().listdir(folder)[1]}


def referred_to() -> set[str]:
    return set(ArtifactPiece.objects.values_list("file", flat=True))


def write(session: Session, data: bytes, owner: str = "sally", **chunk: Any) -> JsonObject | None:
    with stored(session.public_id, data) as kept, writing(session.pk) as log:
        return artifacts.record(log.session, owner, Chunk(**chunk), kept)


def begun(session: Session, data: bytes = b"a", **chunk: Any) -> str:
    part = write(session, data, **chunk)
    assert part is not None
    return str(part["data"]["artifactId"])


# -- the shared case -------------------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.parametrize(
    "variant",
    [
        "grow",
        "replace",
        "append_to_unknown",
        "two_interleaved",
        "append_after_last",
        "same_event_redelivered",
    ],
)
async def test_st_artifact_append_and_replace(variant: str) -> None:
    loaded = case("streaming/st-artifact-append-and-replace.yaml")
    events = loaded["input"]["variants"][variant]["events"]
    expected = loaded["expected"]["variants"][variant]
    expected = expected["any_of"][0] | expected if "any_of" in expected else expected
    ids: dict[str, str] = {}
    errors: list[str] = []

    async def run(context: ToolContext) -> Json:
        for name, flags, said in events:
            given = {"append": flags.get("append", False), "last_chunk": flags.get("lastChunk", False)}
            given |= {"seq": flags.get("seq"), "artifact_id": ids.get(name, name if given["append"] else "")}
            try:
                ids[name] = await context.write_artifact(said.encode(), **given)
            except ValidationFailed as error:
                errors.append(error.code)
        return {}

    async with desk(replies(*SCRIPT), writer(run)) as d:
        await d.say("Write")
        found = {name: (await sync_to_async(content)(id_)).decode() for name, id_ in ids.items()}
        assert found == expected["artifacts"]
        assert errors == ([expected["error"]] if "error" in expected else [])
        # One card for each, and one part in the envelope, which is the final one.
        page = await d.html()
        assert page.count('class="b-file"') == len(found)
        shown = [part["data"] for part in await _envelope(d) if part["metadata"]["partType"] == "artifact"]
        assert [(each["artifactId"], each["sizeBytes"]) for each in shown] == [
            (ids[name], len(said)) for name, said in found.items()
        ]
        assert all("lastChunk" not in each and each["sha256"] for each in shown)


async def _envelope(d: Desk) -> list[JsonObject]:
    def read() -> list[JsonObject]:
        parts: list[JsonObject] = envelope_for(Turn.objects.select_related("session").get(session=d.session))[
            "parts"
        ]
        return parts

    return await sync_to_async(read)()


# -- one card --------------------------------------------------------------------------------------------------------


async def test_a_file_grows_on_one_card_and_every_reader_is_told_of_each_write() -> None:
    seen: list[str] = []

    async def run(context: ToolContext) -> Json:
        one = await context.write_artifact(b"a,b\n", name="list.csv", mime_type="text/csv")
        seen.append(await d.html())
        await context.write_artifact(b"1,2\n", artifact_id=one, append=True, last_chunk=True)
        return {}

    async with desk(replies(*SCRIPT), writer(run)) as d:
        await d.say("Write")
        assert "still being written" in seen[0]
        page = await d.html()
        assert "still being written" not in page
        assert page.count('class="b-file"') == 1
        assert "CSV, 8 bytes" in page
        first, last = [part["data"] for part in await d.parts("artifact")]
        told = ("append", "lastChunk", "seq", "offset", "sizeBytes")
        assert [first[key] for key in told] == [False, False, 1, 0, 4]
        assert [last[key] for key in told] == [True, True, 2, 4, 8]
        assert first["url"] == last["url"]
        assert "sha256" not in first


async def test_the_end_of_the_call_ends_what_it_was_writing() -> None:
    async def run(context: ToolContext) -> Json:
        await context.write_artifact(b"half", name="x.txt", mime_type="text/plain")
        raise ValueError("The disk of somebody else is full.")

    async with desk(replies(*SCRIPT), writer(run)) as d:
        await d.say("Write")
        file = await Artifact.objects.aget()
        assert (file.is_whole, file.writes) == (True, 2)
        assert [part["data"]["lastChunk"] for part in await d.parts("artifact")] == [False, True]
        assert "still being written" not in await d.html()


def test_who_refers_to_a_file_that_is_still_written_does_not_say_that_it_is_whole(session: Session) -> None:
    file = begun(session)
    part: Any = {"artifactId": file, "mimeType": "text/csv", "sizeBytes": 1, "lastChunk": True}
    named = Part(data=part, metadata=Metadata(partType="artifact"))
    (told,) = artifacts.checked(session, [named])
    assert told.data is not None
    assert not is_whole(told.data)
    write(session, b"b", artifact_id=file, append=True, last_chunk=True)
    (told,) = artifacts.checked(session, [named])
    assert told.data is not None
    assert is_whole(told.data) and told.data["sizeBytes"] == 2


def test_a_file_whose_writer_is_gone_is_shown_as_not_finished_and_grows_again_if_more_comes() -> None:
    session = factories.make_session(factories.make_visitor()[0])
    turn = factories.make_turn(session)
    part = write(session, b"a", name="x.txt", mime_type="text/plain")
    assert part is not None
    artifact_id = part["data"]["artifactId"]
    factories.add_part(turn, "artifact", data=part["data"])
    factories.settle_turn(turn, "error")
    assert "not finished" in _page(session)
    more = write(session, b"b", artifact_id=artifact_id, append=True, last_chunk=True)
    assert more is not None
    factories.add_part(factories.make_turn(session), "artifact", data=more["data"])
    page = _page(session)
    assert page.count('class="b-file"') == 1
    assert "not finished" not in page


def _page(session: Session) -> str:
    live_sessions.clear()
    with live_sessions.present(session, "panel") as view:
        return html_of(view)


# -- refused, with nothing changed -----------------------------------------------------------------------------------


@pytest.fixture
def session() -> Session:
    return factories.make_session(factories.make_visitor()[0])


def _refusals(session: Session) -> dict[str, tuple[type[BeachError], Callable[[str], Any]]]:
    other = factories.make_session(factories.make_visitor()[0])
    return {
        "unknown": (
            ValidationFailed,
            lambda own: write(session, b"x", artifact_id="nosuchfile", append=True),
        ),
        "none": (ValidationFailed, lambda own: write(session, b"x", append=True)),
        "of another session": (
            ValidationFailed,
            lambda own: write(other, b"x", artifact_id=own, append=True),
        ),
        "of somebody else": (
            Forbidden,
            lambda own: write(session, b"x", "peer:1", artifact_id=own, append=True),
        ),
        "a gap": (ValidationFailed, lambda own: write(session, b"x", artifact_id=own, append=True, seq=3)),
        "no number": (
            ValidationFailed,
            lambda own: write(session, b"x", artifact_id=own, append=True, seq=0),
        ),
        "other bytes": (Conflict, lambda own: write(session, b"x", artifact_id=own, append=True, seq=1)),
    }


@pytest.mark.parametrize(
    "which",
    ["unknown", "none", "of another session", "of somebody else", "a gap", "no number", "other bytes"],
)
def test_a_write_that_is_refused_changes_nothing_and_leaves_no_bytes(session: Session, which: str) -> None:
    own = begun(session)
    before = list(Artifact.objects.values()), in_storage()
    kind, refused = _refusals(session)[which]
    with pytest.raises(kind):
        refused(own)
    assert (list(Artifact.objects.values()), in_storage()) == before
    assert content(own) == b"a"


@pytest.mark.parametrize("what", ["file", "conversation", "pieces"])
def test_limits_are_told_and_hold_for_what_grows(
    session: Session, settings: Any, monkeypatch: Any, what: str
) -> None:
    own = begun(session, b"abc")
    settings.BEACH_ARTIFACT_BYTES = 5 if what == "file" else 100
    settings.BEACH_SESSION_ARTIFACT_BYTES = 5 if what == "conversation" else 100
    monkeypatch.setattr("envelopes.artifacts.writing.PIECES", 1 if what == "pieces" else 9)
    with pytest.raises(TooLarge) as refused:
        write(session, b"def", artifact_id=own, append=True)
    assert refused.value.facts["limit"] in (5, 1)
    if what == "conversation":
        with pytest.raises(TooLarge):
            write(session, b"def")
    assert content(own) == b"abc"
    assert in_storage() == referred_to()
    # What takes the place of something needs the room of that only.
    if what != "pieces":
        write(session, b"12345", artifact_id=own)
        assert content(own) == b"12345"


def test_a_replaced_file_leaves_nothing_of_what_it_was(session: Session) -> None:
    own = begun(session, b"first")
    write(session, b"more", artifact_id=own, append=True)
    write(session, b"second", artifact_id=own, last_chunk=True)
    assert content(own) == b"second"
    assert len(in_storage()) == 1
    assert in_storage() == referred_to()
    # A write that was replaced since has no effect when it comes again.
    assert write(session, b"more", artifact_id=own, append=True, seq=2) is None
    assert content(own) == b"second"
    assert in_storage() == referred_to()


def test_two_who_append_at_once_lose_nothing(session: Session) -> None:
    own = begun(session, b"")
    failed: list[BaseException] = []

    def append(letter: bytes) -> None:
        try:
            for _ in range(10):
                write(session, letter, artifact_id=own, append=True)
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=append, args=(letter,)) for letter in (b"a", b"b")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    close_old_connections()
    assert failed == []
    assert sorted(content(own)) == sorted(b"a" * 10 + b"b" * 10)
    file = Artifact.objects.get()
    assert (file.writes, file.size_bytes) == (21, 20)


# -- bytes and rows --------------------------------------------------------------------------------------------------


def test_what_dies_between_bytes_and_row_leaves_no_row_and_the_sweep_finds_the_bytes(
    session: Session,
) -> None:
    def cut_off() -> None:
        with stored(session.public_id, b"lost") as kept, writing(session.pk) as log:
            artifacts.record(log.session, "sally", Chunk(), kept)
            # As after a commit of which nobody knows whether it took place.
            raise DatabaseError("The server closed the connection.")

    with pytest.raises(DatabaseError):
        cut_off()
    assert not Artifact.objects.exists()
    assert len(in_storage()) == 1
    kept_file = begun(session, b"kept")

    # Young ones may belong to a transaction that is under way.
    assert sweep(delete=True).removed == 0
    found = sweep(delete=True, older=timedelta(seconds=-1))
    assert (found.orphans, found.removed, found.lost) == (1, 1, [])
    assert in_storage() == referred_to()
    assert content(kept_file) == b"kept"


def test_the_sweep_names_rows_whose_bytes_are_gone(session: Session, files: Path) -> None:
    own = begun(session, b"x")
    (files / ArtifactPiece.objects.get().file).unlink()
    assert sweep(delete=False).lost == [own]


def test_a_deleted_session_takes_its_files_along_once_that_is_committed(session: Session) -> None:
    begun(session, b"one")
    begun(session, b"two")
    with transaction.atomic():
        Session.objects.filter(pk=session.pk).delete()
        transaction.set_rollback(True)
    assert len(in_storage()) == 2
    session.delete()
    assert in_storage() == set()


def test_no_name_that_anybody_gives_is_part_of_a_path(session: Session, files: Path) -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "a/b/c", "..", "\x00", "C:\\x"):
        begun(session, b"x", name=name, mime_type="../../x")
    (folder,) = files.iterdir()
    assert folder.name == session.public_id
    assert all(len(each.name) == 26 and each.name.isalnum() for each in folder.iterdir())
    assert {file.mime_type for file in Artifact.objects.all()} == {"application/octet-stream"}
    assert not any(each in file.name for file in Artifact.objects.all() for each in "/\\\x00")


def test_files_are_for_nobody_else_on_the_machine(session: Session, files: Path) -> None:
    begun(session, b"x")
    assert [oct(each.stat().st_mode & 0o777) for each in files.rglob("*")] == ["0o700", "0o600"]


async def test_what_came_with_a_message_can_be_read_by_a_tool() -> None:
    read: list[Any] = []

    async def run(context: ToolContext) -> Json:
        file = await Artifact.objects.aget(owner__startswith="anonymous")
        read.append(await context.read_artifact(file.artifact_id))
        try:
            await context.write_artifact(b"!", artifact_id=file.artifact_id)
        except Forbidden:
            read.append("forbidden")
        return {}

    async with desk(replies(*SCRIPT), writer(run)) as d:
        data = {"name": "a.txt", "mimeType": "text/plain", "bytes": "aGk="}
        part = {"metadata": {"partType": "artifact"}, "data": data}
        await sync_to_async(post_message)(d.session, d.owner, "m1", "Read", parts=[part])
        await d.quiet()
        assert read == [("a.txt", "text/plain", b"hi"), "forbidden"]
        assert "a.txt" in await d.html()


async def test_a_hundred_megabytes_are_not_asked_for_twice() -> None:
    """A tool that hands over too much is told before anything of it is written."""

    async def run(context: ToolContext) -> Json:
        await context.write_artifact(bytes(26 * 1024 * 1024))
        return {}

    async with desk(replies(*SCRIPT), writer(run)) as d:
        await d.say("Write")
        (call,) = await d.calls()
        assert call.error["code"] == "too_large"
        assert await asyncio.to_thread(in_storage) == set()


def test_the_command_tells_and_removes_what_nothing_refers_to(session: Session, files: Path) -> None:
    begun(session)
    orphan = files / session.public_id / "left"
    orphan.write_bytes(b"x")
    old = (timezone.now() - timedelta(hours=2)).timestamp()
    os.utime(orphan, (old, old))
    said = [_command("artifacts"), _command("artifacts", "--delete"), _command("artifacts")]
    told = [tuple(map(int, re.findall(r"\d+", line))) for line in said]
    assert told == [(1, 0), (1, 1), (0, 0)]
    assert in_storage() == referred_to()
    (files / ArtifactPiece.objects.get().file).unlink()
    with pytest.raises(CommandError, match=Artifact.objects.get().artifact_id):
        _command("artifacts")


def _command(*words: str) -> str:
    out = StringIO()
    call_command("beach", *words, stdout=out, no_color=True)
    return out.getvalue()


@pytest.mark.parametrize("alias", ["nowhere", "default", "staticfiles"])
def test_a_storage_that_is_not_there_or_is_for_everybody_is_a_configuration_error(
    settings: Any, alias: str
) -> None:
    assert artifact_storage(None) == []
    settings.BEACH_ARTIFACT_STORAGE = alias
    (error,) = artifact_storage(None)
    assert (error.id, alias in error.msg) == ("envelopes.E005", True)
