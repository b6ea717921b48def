"""Each envelope once, in order, whoever produces and whenever one is cut off: over two processes."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest
from asgiref.sync import sync_to_async

from beachsite.suite import ROOT
from envelopes.log.read import rows_after
from envelopes.models import Session
from tests.envelopes.log.databases import url_of
from tests.envelopes.transports.live.client import live
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
