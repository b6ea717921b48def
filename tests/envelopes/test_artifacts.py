"""Files of a session: kept by a tool, shown as a part, served to those who may see the session."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client
from django.utils.http import content_disposition_header
from pydantic import BaseModel

from envelopes import artifacts
from envelopes.access import COOKIE, new_anonymous_owner
from envelopes.errors import NotFound
from envelopes.models import Artifact
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

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
        client, stranger = Client(), Client()
        client.cookies[COOKIE] = cookie
        answer = await sync_to_async(client.get)(part["data"]["url"])
        assert answer.content == HOSTILE
        assert (await sync_to_async(client.head)(part["data"]["url"])).status_code == 200
        # It never runs as a page of this site, whatever the agent calls it.
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert (await sync_to_async(stranger.get)(part["data"]["url"])).status_code == 404
        assert (await sync_to_async(client.get)("/artifacts/nosuchfile")).status_code == 404
        assert (await sync_to_async(client.get)("/artifacts/%00")).status_code == 400


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
        client = Client()
        client.cookies[COOKIE] = cookie
        answer = await sync_to_async(client.get)(part["data"]["url"])
        shown = re.search(r'class="b-file__name"[^>]*>([^<]*)<', await d.html())
        assert shown is not None
        stored = await sync_to_async(Artifact.objects.get)()
        downloaded = answer["Content-Disposition"]
        assert [part["data"]["name"], html.unescape(shown[1]), stored.name] == [name] * 3
        assert downloaded == content_disposition_header(True, name)


async def test_p20_an_agent_shows_a_file_under_no_other_name_than_it_has() -> None:
    def script(request: ModelRequest) -> Reply:
        results = Conversation(request).results("report")
        if not results:
            return Reply([Call("report", {})])
        assert isinstance(results[0].content, dict)
        own = results[0].content["id"]
        data = {"artifactId": "a", "mimeType": "application/pdf", "sizeBytes": 1, "name": "safe.pdf"}
        shown = [
            {"metadata": {"partType": "artifact"}, "data": {**data, "url": url}}
            for url in (
                f"/artifacts/{own}",
                f"https://testserver/artifacts/{own}",
                f"//testserver/artifacts/{own}?name=safe.pdf",
                "/artifacts/nosuchfile",
                "https://example.com/safe.pdf",
                "https://example.com/artifacts/a-file-of-theirs",
            )
        ]
        return Reply([Say([text("response", "There."), *shown])])

    async with desk(script, REPORT) as d:
        await d.say("A report, please")
        (kept, *own, missing, elsewhere, theirs) = [part["data"] for part in await d.parts("artifact")]
        assert own == [kept] * 3
        assert "url" not in missing
        assert (elsewhere["name"], elsewhere["url"]) == ("safe.pdf", "https://example.com/safe.pdf")
        assert (theirs["name"], theirs["url"]) == (
            "safe.pdf",
            "https://example.com/artifacts/a-file-of-theirs",
        )


async def test_p20_a_file_that_was_stored_under_another_name_is_downloaded_under_a_safe_one() -> None:
    who, cookie = new_anonymous_owner()
    async with desk(replies(*SCRIPT), REPORT, owner=who) as d:
        await d.say("A report, please")
        await sync_to_async(Artifact.objects.update)(name="a\u202efdp.exe")
        (part,) = await d.parts("artifact")
        client = Client()
        client.cookies[COOKIE] = cookie
        answer = await sync_to_async(client.get)(part["data"]["url"])
        assert answer["Content-Disposition"] == 'attachment; filename="afdp.exe"'


async def test_a_file_over_the_limit_is_refused_and_nothing_is_kept(settings: object) -> None:
    settings.BEACH_ARTIFACT_BYTES = 4  # type: ignore[attr-defined]
    async with desk(replies(*SCRIPT), REPORT) as d:
        await d.say("A report, please")
        (call,) = await d.calls()
        assert call.state == "failed"
        assert call.error["code"] == "too_large"
        assert not await Artifact.objects.aexists()


async def test_a_large_file_is_read_a_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "PIECE_BYTES", 1_000)
    content = bytes(range(256)) * 16
    who, cookie = new_anonymous_owner()
    async with desk(replies(*SCRIPT), REPORT, owner=who) as d:
        part = await sync_to_async(artifacts.store)(d.session, "large.bin", "text/plain", content)
        client = AsyncClient()
        client.cookies[COOKIE] = cookie
        answer: Any = await client.get(part["data"]["url"])
        assert answer["Content-Length"] == str(len(content))
        assert answer["Content-Disposition"] == 'attachment; filename="large.bin"'
        pieces = [piece async for piece in answer]
        assert [len(piece) for piece in pieces] == [1_000, 1_000, 1_000, 1_000, 96]
        assert b"".join(pieces) == content
        head = await client.head(part["data"]["url"])
        assert (head["Content-Length"], head.content) == (str(len(content)), b"")

        # One that is gone in the middle does not look whole.
        answer = await client.get(part["data"]["url"])
        reading = aiter(answer)
        await anext(reading)
        await Artifact.objects.all().adelete()
        with pytest.raises(NotFound):
            await anext(reading)
