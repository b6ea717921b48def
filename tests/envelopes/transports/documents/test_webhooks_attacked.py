"""Webhooks where services are rude, addresses are tricks, processes are killed, and rows grow old."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from beachsite.suite import ROOT
from envelopes.errors import ValidationFailed
from envelopes.models import Session, WebhookCursor, WebhookDelivery, WebhookSubscription
from envelopes.transports.documents.webhooks import reading_log, sending, sweeping
from envelopes.transports.documents.webhooks.sending import claim
from envelopes.transports.documents.webhooks.targets import check_target
from tests.desk import desk
from tests.envelopes.log.databases import url_of
from tests.envelopes.transports.documents.service import Service
from tests.envelopes.transports.documents.test_webhooks_sent import (
    SCRIPT,
    deliveries,
    due_now,
    sent,
    subscribed,
    there,
    types,
)

__all__ = ["there"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example%2f.example.com",
        "evil.example%23.example.com",
        "evil.example%40.example.com",
        "evil.example;.example.com",
        "evil.example,x.example.com",
        "a..example.com",
        "-a.example.com",
        f"{'a' * 64}.example.com",
        "xn--a.example.com",
        "xn--ls8h.example.com",
        "a.example.com.",
        "[::1%25.example.com]",
        "0.0.0.0",  # noqa: S104
        "2130706433",
        "[::ffff:127.0.0.1]",
        "a.example.com:0",
    ],
)
def test_no_trick_is_a_host_below_one_that_is_named(host: str) -> None:
    with pytest.raises(ValidationFailed):
        check_target(f"https://{host}/", ["*.example.com"])


def test_addresses_of_ipv6_can_be_named() -> None:
    check_target("https://[::1]:8443/x", ["::1:8443"])


async def test_a_host_that_cannot_be_read_is_an_attempt_that_failed(there: Service) -> None:
    one, _ = await subscribed(there, "message.received")
    # As it was stored before addresses were held to that.
    url = f"http://xn--a.{there.host}/"
    await WebhookSubscription.objects.aupdate(url=url)
    async with desk(SCRIPT) as d:
        await d.say("Hi")
    await sent(one)

    (left,) = await sync_to_async(deliveries)()
    assert (left.attempts, left.state) == (1, "pending") and left.error


@pytest.mark.parametrize(
    ("rude", "error"),
    [
        (b"", "no answer within"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", ""),
        (b"X-Long: header\r\n" * 500, "ProtocolError"),
    ],
    ids=["nothing", "continue", "headers"],
)
async def test_who_never_comes_to_an_end_is_left(
    there: Service, monkeypatch: pytest.MonkeyPatch, rude: bytes, error: str
) -> None:
    monkeypatch.setattr(sending, "ATTEMPT_SECONDS", 0.5)
    one, secret = await subscribed(there, "message.received")
    there.raw.append(rude)
    async with desk(SCRIPT) as d:
        await d.say("Hi")
    await sent(one)

    (left,) = await sync_to_async(deliveries)()
    assert (left.attempts, left.state, left.status) == (1, "pending", None)
    assert error in left.error and secret not in left.error


async def test_a_body_without_an_end_is_not_read(there: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = await subscribed(there, "message.received")
    there.raw.append(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 65_536)
    async with desk(SCRIPT) as d:
        await d.say("Hi")
    await sent(one)

    assert [each.state for each in await sync_to_async(deliveries)()] == ["delivered"]


async def test_behind_too_many_that_wait_the_log_waits_and_loses_nothing(
    there: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_log, "BACKLOG", 2)
    one, _ = await subscribed(there, "message.received")
    there.answers[:] = [503]
    async with desk(SCRIPT) as d, desk(SCRIPT) as e:
        await d.say("Hi")
        await d.say("Hi")
        await sent(one)
        await e.say("Hi")
        await sent(one)
        assert await WebhookDelivery.objects.acount() == 2
        await due_now()
        await sent(one)
        await sent(one)

    assert types(there) == ["message.received"] * 4
    assert await WebhookDelivery.objects.filter(state="delivered").acount() == 3


async def test_what_is_old_is_swept_and_told_no_second_time(there: Service, settings: Any) -> None:
    one, _ = await subscribed(there, "message.received")
    settings.BEACH_WEBHOOK_DAYS = 3
    async with desk(SCRIPT) as d:
        await d.say("Hi")
        await sent(one)
        assert await sync_to_async(sweeping.sweep)() == 0
        await _older(timedelta(days=4))
        # One that still waits stays, however old it is.
        await WebhookDelivery.objects.acreate(
            subscription=one,
            event_id="e",
            event_type="turn.failed",
            resource_id="s",
            data={},
            created_at=timezone.now() - timedelta(days=9),
            next_at=timezone.now() + timedelta(hours=1),
        )
        # Nobody has looked for as long: what is behind the cursor may be news.
        assert await sync_to_async(sweeping.sweep)() == 1
        assert await WebhookCursor.objects.acount() == 1
        await sync_to_async(reading_log.read_log)(one.pk)
        assert await sync_to_async(sweeping.sweep)() == 1
        assert await WebhookCursor.objects.acount() == 0
        assert await WebhookDelivery.objects.acount() == 1
        await WebhookDelivery.objects.all().adelete()
        await d.say("Again")
        await sent(one)

    assert types(there) == ["message.received"] * 2


async def _older(by: timedelta) -> None:
    """As all of it is after that time."""
    from django.db.models import F

    from envelopes.models import Event

    await Event.objects.aupdate(at=F("at") - by)
    await Session.objects.aupdate(updated_at=F("updated_at") - by)
    await WebhookDelivery.objects.aupdate(ended_at=F("ended_at") - by)
    await WebhookSubscription.objects.aupdate(since=F("since") - by, read_until=F("read_until") - by)


@contextmanager
def process(there: Service) -> Iterator[subprocess.Popen[str]]:
    """A process that sends, killed at the end."""
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.envelopes.transports.documents.sending_process", there.host],
        cwd=ROOT,
        env={**os.environ, "BEACH_TEST_DATABASE_URL": url_of("default")},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None and started.stdout.readline() == "Begun\n"
        yield started
    finally:
        started.kill()
        started.wait()
        if started.stdout is not None:
            started.stdout.close()


async def test_who_is_killed_in_the_middle_of_one_has_lost_nothing(there: Service) -> None:
    one, _ = await subscribed(there)
    async with desk(SCRIPT) as d:
        await d.say("Hi")
        await d.say("More")
    there.raw.append(b"")

    def until_it_is_there() -> None:
        with process(there) as sender:
            assert there.news.acquire(timeout=30)
            sender.kill()
            sender.wait()

    await asyncio.to_thread(until_it_is_there)
    left = await sync_to_async(deliveries)(state="pending")
    assert [each.attempts for each in left] == [0] * 4
    # Another process leaves it alone as long as it may be on its way.
    assert await sync_to_async(claim)(one.pk) is None
    await due_now()
    await sent(one)

    assert types(there) == ["message.received"] + ["message.received", "turn.settled"] * 2
    assert there.received[0][0]["webhook-id"] == there.received[1][0]["webhook-id"]
    assert len({headers["webhook-id"] for headers, _ in there.received}) == 4
    seqs = [json.loads(body)["data"]["seq"] for _, body in there.received]
    assert seqs == sorted(seqs)
