"""Files of a session: kept by a tool, shown as a part, served to those who may see the session."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from pydantic import BaseModel

from envelopes.access import COOKIE, new_anonymous_owner
from envelopes.models import Artifact
from envelopes.providers.scripted import Call, Say, text
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
        assert (await sync_to_async(client.get)("/artifacts/%00")).status_code == 404


async def test_a_file_over_the_limit_is_refused_and_nothing_is_kept(settings: object) -> None:
    settings.BEACH_ARTIFACT_BYTES = 4  # type: ignore[attr-defined]
    async with desk(replies(*SCRIPT), REPORT) as d:
        await d.say("A report, please")
        (call,) = await d.calls()
        assert call.state == "failed"
        assert call.error["code"] == "too_large"
        assert not await Artifact.objects.aexists()
