"""Two processes that send the same webhooks, and two that patch the same document, each with the other in its way."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import ExitStack

import pytest
from asgiref.sync import sync_to_async

from beachsite.suite import ROOT
from envelopes.models import Document, WebhookDelivery
from tests.desk import desk
from tests.envelopes.log.databases import url_of
from tests.envelopes.transports.documents.service import Service
from tests.envelopes.transports.documents.test_door import SCOPES, SCRIPT, listen, sent, whole
from tests.envelopes.transports.documents.test_webhooks_attacked import process
from tests.envelopes.transports.documents.test_webhooks_sent import subscribed, there
from tests.envelopes.transports.program import at_door

__all__ = ["there"]

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = 15
PATCHES = 40


def wait_until_all_are_delivered() -> None:
    until = time.monotonic() + 60
    while WebhookDelivery.objects.exclude(state="delivered").exists():
        assert time.monotonic() < until
        time.sleep(0.05)


async def test_each_event_comes_once_and_in_order(there: Service) -> None:
    await subscribed(there)
    with ExitStack() as both:
        for _ in range(2):
            await asyncio.to_thread(both.enter_context, process(there))
        async with desk(SCRIPT) as d:
            for _ in range(MESSAGES):
                await d.say("Hi")
        for _ in range(2 * MESSAGES):
            assert await asyncio.to_thread(there.news.acquire, timeout=60)
        await sync_to_async(wait_until_all_are_delivered)()

    seqs = [json.loads(body)["data"]["seq"] for _, body in there.received]
    assert seqs == sorted(set(seqs)) and len(seqs) == 2 * MESSAGES


async def test_every_patch_counts_once_and_whoever_follows_sees_them_in_order() -> None:
    """Each adds to one list; versions are counted without a gap."""
    async with at_door(SCRIPT, scopes=SCOPES) as (caller, d):
        await sent(caller, d, whole({"v": 1, "surface": "s", "components": [LIST]}, surface="s"))
        stream = await (await listen(caller, d)).seen("upToDate")
        words = [sys.executable, "-m", "tests.long.patching", str(d.session.pk), str(caller.peer.pk)]
        env = {**os.environ, "BEACH_TEST_DATABASE_URL": url_of("default")}
        two = [
            await asyncio.create_subprocess_exec(
                *words, name, str(PATCHES), cwd=ROOT, env=env, stdout=asyncio.subprocess.PIPE
            )
            for name in "ab"
        ]
        told = [found.split() for found, _ in await asyncio.gather(*(one.communicate() for one in two))]
        assert [one.returncode for one in two] == [0, 0]
        # Nothing here polls for what other processes write: whoever comes back is told.
        last = await stream.cut()
        later = await (await listen(caller, d, Last_Event_ID=str(last))).seen("upToDate")
        await later.cut()
        kept = await sync_to_async(Document.objects.get)()

    versions = [int(number) for numbers in told for number in numbers]
    assert sorted(versions) == list(range(2, 2 + 2 * PATCHES))
    assert all(numbers == sorted(numbers, key=int) for numbers in told)
    items = kept.document["components"][0]["props"]["items"]
    followed = [event.data["patch"]["ops"][0]["value"] for event in later.of("document")]
    assert items == followed and kept.version == 1 + 2 * PATCHES


LIST = {"id": "l", "type": "list", "props": {"items": []}}
