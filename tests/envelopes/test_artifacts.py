"""Files of a session: kept by a tool, shown as a part, served to those who may see the session."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.utils.http import content_disposition_header
from pydantic import BaseModel

from envelopes.access import COOKIE, new_anonymous_owner
from envelopes.artifacts.storing import storage
from envelopes.errors import ValidationFailed
from envelopes.intake import post_message
from envelopes.models import Artifact
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json, JsonObject
from tests.desk import Script, desk, replies

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("files")]


def kept_files() -> list[str]:
    """What is in the storage of files."""
    folders = storage().listdir("")[0] if storage().exists("") else []
    return [f"{folder}/{name}" for folder in folders for name in storage().listdir(folder)[1]]


async def content_of(answer: Any) -> bytes:
    """All bytes of an answer that streams."""
    return b"".join([span async for span in answer.streaming_content])


HOSTILE = b"<script>alert(1)</script>"


class Nothing(BaseModel):
    pass


async def _report(context: ToolContext, args: Nothing) -> Json:
    return {"id": await context.attach('re"port\r\n.html', "text/html", HOSTILE)}


REPORT = Tool("report", "", Nothing, _report)
SCRIPT = ([Call("report", {})], [Say([text("response", "There.")])])


async def test_a_tool_attaches_a_file_that_only_its_people_may_download() -> None:
    who, cookie = new_anonymous_owner()
    async with desk(replies(*SCRIPT), REPORT, owner=who) as d:
        await d.say("A report, please")
        (part,) = await d.parts("artifact")
        assert part["data"]["sizeBytes"] == len(HOSTILE)
        assert part["data"]["url"] in await d.html()
        client, stranger = AsyncClient(), AsyncClient()
        client.cookies[COOKIE] = cookie
        answer = await client.get(part["data"]["url"])
        assert await content_of(answer) == HOSTILE
        assert (await client.head(part["data"]["url"])).status_code == 200
        # It never runs as a page of this site, whatever the agent calls it.
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"].startswith("sandbox;")
        assert (await stranger.get(part["data"]["url"])).status_code == 404
        assert (await client.get("/artifacts/nosuchfile")).status_code == 404
        assert (await client.get("/artifacts/%00")).status_code == 404


NAMES = {
    "invoice\u202efdp.exe": "invoicefdp.exe",
    "ticket.pdf" + " " * 80 + ".exe": "ticket.pdf.exe",
    "\u2066a\u200bb\u00ad.txt": "ab.txt",
    "a\x00b\x1b[31m\r\n.txt": "ab[31m.txt",
    "../../etc/passwd": "_._etc_passwd",
    "C:\\temp\\x.txt": "C_temp_x.txt",
    "con.pdf": "_con.pdf",
    "Aux .txt": "_Aux.txt",
    "LPT\u00b9": "_LPT\u00b9",
    ".htaccess": "htaccess",
    "x.txt. . ": "x.txt",
    "\u200b\u3164": "file",
    "": "file",
    "cafe\u0301.pdf": "caf\u00e9.pdf",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.pdf": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.pdf",
    "a" * 300 + ".pdf": "a" * 115 + "\u2026.pdf",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 60 + ".pdf": (
        "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 12 + "\u2026.pdf"
    ),
    "half \ud83d.pdf": "half.pdf",
}


@pytest.mark.parametrize(("given", "name"), NAMES.items(), ids=[ascii(given)[:40] for given in NAMES])
async def test_p20_a_file_is_shown_stored_and_downloaded_under_one_name_that_hides_nothing(
    given: str, name: str
) -> None:
    async def report(context: ToolContext, args: Nothing) -> Json:
        await context.attach(given, "text/plain", b"x")
        return "attached"

    who, cookie = new_anonymous_owner()
    async with desk(replies(*SCRIPT), Tool("report", "", Nothing, report), owner=who) as d:
        await d.say("A report, please")
        (part,) = await d.parts("artifact")
        client = AsyncClient()
        client.cookies[COOKIE] = cookie
        answer = await client.get(part["data"]["url"])
        shown = re.search(r'class="b-file__name"[^>]*>([^<]*)<', await d.html())
        assert shown is not None
        stored = await sync_to_async(Artifact.objects.get)()
        downloaded = answer["Content-Disposition"]
        assert [part["data"]["name"], html.unescape(shown[1]), stored.name] == [name] * 3
        assert downloaded == content_disposition_header(True, name)


def _shown(url: str = "", artifact_id: str = "a") -> JsonObject:
    data = {"artifactId": artifact_id, "mimeType": "application/pdf", "sizeBytes": 1, "name": "safe.pdf"}
    return {"metadata": {"partType": "artifact"}, "data": {**data, **({"url": url} if url else {})}}


def _after_report(show: Callable[[str], list[JsonObject]]) -> Script:
    """Makes a report, and shows what ``show`` makes of its id."""

    def script(request: ModelRequest) -> Reply:
        results = Conversation(request).results("report")
        if not results:
            return Reply([Call("report", {})])
        assert isinstance(results[0].content, dict)
        return Reply([Say([text("response", "There."), *show(results[0].content["id"])])])

    return script


async def test_p20_an_agent_shows_a_file_under_no_other_name_than_it_has() -> None:
    def show(own: str) -> list[JsonObject]:
        urls = (
            f"/artifacts/{own}",
            f"https://testserver/artifacts/{own}",
            f"//testserver/artifacts/{own}?name=x",
        )
        elsewhere = ("https://example.com/safe.pdf", "https://example.com/artifacts/a-file-of-theirs")
        return [_shown(artifact_id=own), *map(_shown, urls), *map(_shown, elsewhere)]

    async with desk(_after_report(show), REPORT) as d:
        await d.say("A report, please")
        (kept, *own, elsewhere, theirs) = [part["data"] for part in await d.parts("artifact")]
        assert own == [kept] * 4
        assert (elsewhere["name"], elsewhere["url"]) == ("safe.pdf", "https://example.com/safe.pdf")
        assert (theirs["name"], theirs["url"]) == (
            "safe.pdf",
            "https://example.com/artifacts/a-file-of-theirs",
        )


LEADING_NOWHERE = {
    "an id that nobody has": (lambda other: _shown(artifact_id="nosuchfile"), "artifactId"),
    "an address that nobody has": (lambda other: _shown("/artifacts/nosuchfile"), "url"),
    "the id of another session": (lambda other: _shown(artifact_id=other), "artifactId"),
    "the address of another session": (lambda other: _shown(f"/artifacts/{other}"), "url"),
    "that address with a host": (lambda other: _shown(f"https://testserver/artifacts/{other}"), "url"),
    "the address of programs": (lambda other: _shown(f"/api/artifacts/{other}"), "url"),
    "its id at another address": (lambda other: _shown("https://example.com/x", other), "artifactId"),
    "a path": (lambda other: _shown("/admin/"), "url"),
    "script": (lambda other: _shown("javascript:alert(1)"), "url"),
    "data": (lambda other: _shown("data:text/html,<script>alert(1)</script>"), "url"),
    "a file of the server": (lambda other: _shown("file:///etc/passwd"), "url"),
}


async def _other_file() -> str:
    """A file of somebody else's conversation."""
    async with desk(replies(*SCRIPT), REPORT, name="other", owner=new_anonymous_owner()[0]) as d:
        await d.say("A report, please")
        (part,) = await d.parts("artifact")
        return str(part["data"]["artifactId"])


@pytest.mark.parametrize(("made", "where"), LEADING_NOWHERE.values(), ids=list(LEADING_NOWHERE))
async def test_an_agent_that_shows_what_is_no_file_of_its_conversation_is_told_and_nothing_is_shown(
    made: Callable[[str], JsonObject], where: str
) -> None:
    part = made(await _other_file())
    script = replies([Say([text("response", "There."), part])], [Say([text("response", "Sorry.")])])
    async with desk(script) as d:
        await d.say("A file, please")
        (refused,) = await d.rows("refused")
        assert refused.data["error"]["code"] == "VALIDATION_FAILED"
        assert refused.data["error"]["path"] == f"/parts/1/data/{where}"
        assert await d.parts("artifact") == []
        assert await d.texts() == ["Sorry."]


@pytest.mark.parametrize("made", [made for made, _ in LEADING_NOWHERE.values()], ids=list(LEADING_NOWHERE))
async def test_a_tool_and_a_message_that_do_are_refused_as_well(made: Callable[[str], JsonObject]) -> None:
    part = made(await _other_file())

    async def show(context: ToolContext, args: Nothing) -> Json:
        await context.emit({"text": "There:", "metadata": {"partType": "response"}}, part)
        return {}

    async with desk(replies(*SCRIPT), Tool("report", "", Nothing, show)) as d:
        await d.say("A file, please")
        (call,) = await d.calls()
        assert (call.state, call.error["code"]) == ("failed", "VALIDATION_FAILED")
        assert await d.parts("artifact") == []
        before = len(await d.rows())
        with pytest.raises(ValidationFailed) as refused:
            await sync_to_async(post_message)(d.session, d.owner, "m9", "Look", parts=[part])
        assert refused.value.facts["path"].startswith("/parts/0/data/")
        assert len(await d.rows()) == before


async def test_p20_a_file_that_was_stored_under_another_name_is_downloaded_under_a_safe_one() -> None:
    who, cookie = new_anonymous_owner()
    async with desk(replies(*SCRIPT), REPORT, owner=who) as d:
        await d.say("A report, please")
        await sync_to_async(Artifact.objects.update)(name="a\u202efdp.exe")
        (part,) = await d.parts("artifact")
        client = AsyncClient()
        client.cookies[COOKIE] = cookie
        answer = await client.get(part["data"]["url"])
        assert answer["Content-Disposition"] == 'attachment; filename="afdp.exe"'


async def test_a_file_over_the_limit_is_refused_and_nothing_is_kept(settings: object) -> None:
    settings.BEACH_ARTIFACT_BYTES = 4  # type: ignore[attr-defined]
    async with desk(replies(*SCRIPT), REPORT) as d:
        await d.say("A report, please")
        (call,) = await d.calls()
        assert call.state == "failed"
        assert call.error["code"] == "too_large"
        assert not await Artifact.objects.aexists()
        assert kept_files() == []
