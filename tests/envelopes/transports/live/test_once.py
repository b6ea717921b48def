"""Each envelope once, in order, whoever produces and whenever one is cut off: over two processes."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys

import pytest
from asgiref.sync import sync_to_async

from beachsite.suite import ROOT
from envelopes.log.append import writing
from envelopes.log.read import rows_after
from envelopes.models import Session
from tests.envelopes.log.databases import url_of
from tests.envelopes.transports.live.client import Channel, live
from tests.envelopes.transports.live.producing import _produce
from tests.envelopes.transports.live.racing import race

pytestmark = pytest.mark.django_db(transaction=True)


async def elsewhere(session: Session, producers: int, each: int) -> asyncio.subprocess.Process:
    environ = {**os.environ, "BEACH_TEST_DATABASE_URL": url_of("default"), "BEACH_NO_BOOTSTRAP": "1"}
    words = ("-m", "tests.envelopes.transports.live.producing", str(session.pk), str(producers), str(each))
    return await asyncio.create_subprocess_exec(sys.executable, *words, cwd=ROOT, env=environ)


def texts_of(session: Session) -> list[str]:
    return [row.data["text"] for row in rows_after(session.pk, 0) if row.kind == "message"]


@pytest.mark.parametrize(("producers", "subscribers", "each"), [(2, 5, 8)])
async def test_each_envelope_comes_once_and_in_order(producers: int, subscribers: int, each: int) -> None:
    async with live(rate=1_000_000) as (session, caller):
        other = await elsewhere(session, producers, each)
        wanted = 2 * producers * each
        raced, _ = await asyncio.gather(
            race(session, caller.token, subscribers, wanted), _produce(session.pk, producers, each)
        )
        assert await other.wait() == 0
        texts = await sync_to_async(texts_of)(session)
        assert len(texts) == wanted
        for one in raced:
            one.check(texts)
        assert sum(one.cuts for one in raced) > subscribers


async def test_a_delivery_that_could_not_go_at_once_after_all_keeps_its_number() -> None:
    """Its reader is behind by then: what was numbered for it is not counted, and comes in its turn."""
    can = itertools.cycle([True, False])
    async with live(rate=1_000_000) as (session, caller):
        channel = await Channel(token=caller.token, keeps_up=lambda: next(can)).open()
        await channel.subscribe(session, fromSeq=0)
        await channel.pong()
        for number in range(3):
            # It waits by now.
            await asyncio.sleep(0.05)
            await sync_to_async(_say)(session, str(number))
            await channel.until(lambda frame: frame["type"] == "data")
        assert channel.seqs == [1, 2, 3]
        await channel.close()


def _say(session: Session, text: str) -> None:
    with writing(session.pk) as writer:
        writer.add("message", {"text": text, "name": "Ada"})
