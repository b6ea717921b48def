"""Events of the log are sent to who has subscribed: signed, each once and in order, again until they get through."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator
from standardwebhooks.webhooks import Webhook

from envelopes import peers
from envelopes.errors import BeachError, ValidationFailed
from envelopes.models import WebhookDelivery, WebhookSubscription
from envelopes.nonces import DatabaseNonces
from envelopes.providers.scripted import Fail, Say, text
from envelopes.transports.documents import verify_webhook
from envelopes.transports.documents.schemas import schema
from envelopes.transports.documents.webhooks import signing, subscribing
from envelopes.transports.documents.webhooks.background import Webhooks
from envelopes.transports.documents.webhooks.reading_log import read_log
from envelopes.transports.documents.webhooks.sending import (
    MOST_SECONDS,
    claim,
    client,
    send_next,
    wait_after,
)
from envelopes.transports.documents.webhooks.targets import check_target
from tests.desk import desk, replies
from tests.envelopes.transports.documents.service import Service, service

pytestmark = pytest.mark.django_db(transaction=True)

ATTEMPTS = 12
SCRIPT = replies([Say([text("response", "Hello")])])


@pytest.fixture
def there(settings: Any) -> Iterator[Service]:
    with service() as made:
        settings.BEACH_WEBHOOK_HOSTS = [made.host]
        settings.BEACH_WEBHOOK_HTTP = True
        yield made


async def subscribed(there: Service, *events: str, **more: Any) -> tuple[WebhookSubscription, str]:
    return await sync_to_async(subscribing.add)("builds", there.url, events, **more)


async def sent(subscription: WebhookSubscription) -> None:
    """All that is due now."""
    async with client() as http:
        while await sync_to_async(read_log)(subscription.pk):
            pass
        while await send_next(http, subscription.pk):
            pass


def types(there: Service) -> list[str]:
    return [json.loads(body)["event_type"] for _, body in there.received]


def deliveries(**wanted: Any) -> list[WebhookDelivery]:
    return list(WebhookDelivery.objects.filter(**wanted))


async def due_now() -> None:
    await WebhookDelivery.objects.aupdate(next_at=timezone.now())


async def test_what_happens_is_sent_once_in_order_and_signed(there: Service) -> None:
    one, secret = await subscribed(there)
    async with desk(SCRIPT) as d:
        await d.say("Something private")
        await sent(one)
        await d.say("More")
        await sent(one)
        await sent(one)

    assert types(there) == ["message.received", "turn.settled"] * 2
    for headers, body in there.received:
        assert b"private" not in body
        envelope = Webhook(secret).verify(body, headers)
        Draft202012Validator(schema("webhook-envelope.v1.json")).validate(envelope)
        Draft202012Validator(schema("message-envelope.v1.json")).validate(envelope["data"]["message"])
        assert envelope["resource_id"] == d.session.public_id
        assert headers["webhook-id"] == envelope["id"]
        received = await sync_to_async(verify_webhook)(
            body, {}, secret, DatabaseNonces("here"), lambda: timezone.now().timestamp()
        )
        assert received == envelope
    found = await sync_to_async(deliveries)(state="delivered")
    assert [each.attempts for each in found] == [1] * 4


async def test_what_fails_is_sent_again_by_the_same_id_and_holds_up_what_is_behind_it(there: Service) -> None:
    one, _ = await subscribed(there)
    there.answers[:] = [500, 302, 204]
    async with desk(SCRIPT) as d:
        await d.say("Hi")
        await sent(one)
        assert types(there) == ["message.received"]
        await due_now()
        await sent(one)
        assert types(there) == ["message.received"] * 2
        first = (await sync_to_async(deliveries)())[0]
        assert (first.state, first.attempts, first.status) == ("pending", 2, 302)
        assert first.next_at > timezone.now() + timedelta(seconds=5)
        await due_now()
        await sent(one)

    assert types(there) == ["message.received"] * 3 + ["turn.settled"]
    assert len({headers["webhook-id"] for headers, _ in there.received[:3]}) == 1
    assert len({json.loads(body)["replay_protection"]["nonce"] for _, body in there.received}) == 4


async def test_what_never_gets_through_is_given_up_and_can_be_tried_again(there: Service) -> None:
    one, _ = await subscribed(there, "message.received")
    there.answers[:] = [503] * ATTEMPTS
    async with desk(SCRIPT) as d:
        await d.say("Hi")
        for _ in range(ATTEMPTS):
            await due_now()
            await sent(one)
        (dead,) = await sync_to_async(deliveries)()
        assert (dead.state, dead.attempts, dead.error) == ("dead", ATTEMPTS, "The service answered 503.")
        await sent(one)
        assert len(there.received) == ATTEMPTS
        assert await sync_to_async(subscribing.retry)(one) == 1
        await sent(one)

    assert len(there.received) == ATTEMPTS + 1
    assert (await sync_to_async(deliveries)())[0].state == "delivered"


async def test_a_failed_turn_and_an_approval_are_told_to_who_wants_them(there: Service) -> None:
    one, _ = await subscribed(there, "turn.failed")
    async with desk(replies([Fail("overloaded", retryable=False)])) as d:
        await d.say("Hi")
    await sent(one)

    assert types(there) == ["turn.failed"]
    data = json.loads(there.received[0][1])["data"]
    assert (data["finalizedBy"], data["turn"]) == ("error", 1)
    assert data["message"]["payload"]["content"]["text"] == "A turn has failed."


async def test_of_a_peer_only_its_conversations_are_told(there: Service) -> None:
    peer, _ = await sync_to_async(peers.add)("mine", ["chat"])
    one, _ = await subscribed(there, "message.received", peer=peer)
    async with desk(SCRIPT) as other, desk(SCRIPT, owner=peers.principal_of_peer(peer)) as own:
        await other.say("Hi")
        await own.say("Hi")
    await sent(one)

    assert [json.loads(body)["resource_id"] for _, body in there.received] == [own.session.public_id]


async def test_what_was_before_and_what_happens_while_it_is_blocked_is_not_told(there: Service) -> None:
    async with desk(SCRIPT) as d:
        await d.say("Before")
        one, _ = await subscribed(there, "message.received")
        await sent(one)
        await sync_to_async(subscribing.set_active)(one, active=False)
        await d.say("Meanwhile")
        await sent(one)
        await sync_to_async(subscribing.set_active)(one, active=True)
        await sent(one)
        assert there.received == []
        await d.say("After")
        await sent(one)

    assert len(there.received) == 1


async def test_who_wants_no_more_is_asked_no_more(there: Service) -> None:
    one, _ = await subscribed(there, "message.received")
    there.answers[:] = [410]
    async with desk(SCRIPT) as d:
        await d.say("Hi")
        await sent(one)
        await d.say("Hi")
        await sent(one)

    await one.arefresh_from_db()
    assert (len(there.received), one.is_active) == (1, False)


async def test_a_service_that_is_away_and_a_host_that_is_not_named_any_more(
    there: Service, settings: Any
) -> None:
    one, _ = await subscribed(there, "message.received")
    async with desk(SCRIPT) as d:
        await d.say("Hi")
    settings.BEACH_WEBHOOK_HOSTS = []
    await sent(one)
    assert "BEACH_WEBHOOK_HOSTS" in (await sync_to_async(deliveries)())[0].error
    settings.BEACH_WEBHOOK_HOSTS = ["127.0.0.1:9"]
    await WebhookSubscription.objects.aupdate(url="http://127.0.0.1:9/")
    await due_now()
    await sent(one)

    (left,) = await sync_to_async(deliveries)()
    assert (left.state, left.attempts, left.status) == ("pending", 2, None)
    assert "ConnectError" in left.error
    assert there.received == []


async def test_nobody_else_sends_what_one_has_begun(there: Service) -> None:
    one, _ = await subscribed(there, "message.received")
    async with desk(SCRIPT) as d:
        await d.say("Hi")
    await sync_to_async(read_log)(one.pk)

    assert await sync_to_async(claim)(one.pk) is not None
    assert await sync_to_async(claim)(one.pk) is None


async def test_beside_a_runner_all_of_it_happens_by_itself(there: Service, settings: Any) -> None:
    settings.BEACH_WEBHOOK_SECONDS = 0.05
    await subscribed(there)
    here = Webhooks()
    await here.start()
    try:
        async with desk(SCRIPT) as d:
            await d.say("Hi")
            for _ in range(2):
                assert await asyncio.to_thread(there.news.acquire, timeout=20)
    finally:
        await here.stop()
    assert types(there) == ["message.received", "turn.settled"]


def test_the_wait_grows_up_to_an_hour() -> None:
    waits = [wait_after(number) for number in range(1, ATTEMPTS + 1)]

    assert waits[:3] == [5, 10, 20]
    assert waits == sorted(waits) and waits[-1] == MOST_SECONDS


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://hooks.example.com/x", True),
        ("https://a.b.example.org/x?y=1", True),
        ("https://hooks.example.com:8443/x", True),
        ("http://hooks.example.com/x", False),
        ("https://example.org/", False),
        ("https://evilexample.org/", False),
        ("https://hooks.example.com:8444/", False),
        ("https://hooks.example.com@evil.example/", False),
        ("https://user:pass@hooks.example.com/", False),
        ("https://127.0.0.1/", False),
        ("https://[::1]/", False),
        ("https://hooks.example.com:x/", False),
        ("https://hooks.example.com\\@evil.example/", False),
        ("https://hooks.example.com /", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_webhooks_go_to_named_hosts_and_nowhere_else(url: str, good: bool) -> None:
    hosts = ["hooks.example.com", "hooks.example.com:8443", "*.example.org"]
    if good:
        check_target(url, hosts)
        return
    with pytest.raises(ValidationFailed):
        check_target(url, hosts)


def command(capsys: Any, *words: str) -> list[str]:
    call_command("beach", "webhook", *words)
    return capsys.readouterr().out.splitlines()


def test_the_command_adds_lists_and_blocks(there: Service, capsys: Any) -> None:
    (secret,) = command(capsys, "add", "ci", there.url, "--events", "turn.failed,turn.settled")
    assert signing.is_secret(secret)
    assert secret not in str(WebhookSubscription.objects.values())
    (line,) = command(capsys, "list")
    assert line.startswith(f"ci  {there.url}  turn.failed,turn.settled  0 waiting, 0 given up")
    assert command(capsys, "renew", "ci") != [secret]
    command(capsys, "block", "ci")
    assert command(capsys, "list")[0].endswith("blocked")
    command(capsys, "unblock", "ci")
    assert command(capsys, "retry", "ci") == ["0 will be tried again."]
    for wrong in (
        ["add", "ci", there.url],
        ["add", "c i", there.url],
        ["add", "other", "https://elsewhere.example"],
        ["add", "other", there.url, "--events", "no.such"],
        ["add", "other", there.url, "--peer", "nobody"],
        ["block", "nobody"],
    ):
        with pytest.raises((CommandError, BeachError)):
            command(capsys, *wrong)


def test_the_admin_shows_a_secret_once_and_what_became_of_events(
    there: Service, admin_client: Client
) -> None:
    form = {"name": "ci", "url": there.url, "events": ["turn.failed"], "is_active": "on"}
    made = admin_client.post("/admin/envelopes/webhooksubscription/add/", form, follow=True)
    assert "whsec_" in made.content.decode()
    one = WebhookSubscription.objects.get()
    assert (
        "whsec_"
        not in admin_client.get(f"/admin/envelopes/webhooksubscription/{one.pk}/change/").content.decode()
    )
    bad = admin_client.post(
        "/admin/envelopes/webhooksubscription/add/", {**form, "name": "x", "url": "https://no.example"}
    )
    assert "BEACH_WEBHOOK_HOSTS" in bad.content.decode()
    dead = WebhookDelivery.objects.create(
        subscription=one,
        event_id="e1",
        event_type="turn.failed",
        resource_id="s1",
        data={},
        state="dead",
        error="No.",
    )
    listed = admin_client.get("/admin/envelopes/webhookdelivery/?state=dead").content.decode()
    assert "turn.failed" in listed
    assert "No." in admin_client.get(f"/admin/envelopes/webhookdelivery/{dead.pk}/change/").content.decode()
    admin_client.post(
        "/admin/envelopes/webhooksubscription/",
        {"action": "retry", "_selected_action": [one.pk]},
        follow=True,
    )
    assert WebhookDelivery.objects.get().state == "pending"
