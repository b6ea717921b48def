"""Deliveries on their way: one subscription after the other in each, an attempt at a time, until somebody has taken it
or it is given up. At least once, by the same id. The database alone knows what is left, so a restart loses nothing."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from datetime import timedelta

import httpx
from django.utils import timezone

from envelopes.conf import conf
from envelopes.database_threads import beside_sessions
from envelopes.errors import ValidationFailed
from envelopes.models import WebhookDelivery
from envelopes.secrets import unlocked
from envelopes.transports.documents.webhooks import signing
from envelopes.transports.documents.webhooks.subscribing import check_url
from envelopes.types import JsonObject

FIRST_SECONDS = 5.0
MOST_SECONDS = 3_600.0
"""The wait after the first failure doubles with each further one, up to an hour: twelve attempts take some two and
a half hours."""

TIMEOUT_SECONDS, ATTEMPT_SECONDS = 10.0, 20.0
"""How long each step of an attempt may take, and all of it."""

LEASE = timedelta(seconds=60)
"""How long another process leaves a delivery alone that one has begun: longer than an attempt takes."""

GONE = 410
"""The service says that it wants no more (Standard Webhooks)."""


def claim(subscription_pk: int) -> WebhookDelivery | None:
    """The oldest delivery that is left, if it is due and nobody has it: those behind it wait for it, so that they come
    in order."""
    left = WebhookDelivery.objects.filter(subscription=subscription_pk, state="pending").select_related(
        "subscription"
    )
    found = left.order_by("pk").first()
    now = timezone.now()
    if found is None or found.next_at > now or not found.subscription.is_active:
        return None
    mine = WebhookDelivery.objects.filter(pk=found.pk, state="pending", next_at=found.next_at)
    return found if mine.update(next_at=now + LEASE) else None


def envelope_of(delivery: WebhookDelivery, now_ms: int) -> JsonObject:
    """What is sent of it now: everything stays but what is good for one attempt."""
    return {
        "v": 1,
        "id": delivery.event_id,
        "event_type": delivery.event_type,
        "resource_id": delivery.resource_id,
        "data": delivery.data,
        "replay_protection": {"nonce": secrets.token_urlsafe(24), "timestamp_unix_ms": now_ms},
    }


async def send_next(client: httpx.AsyncClient, subscription_pk: int) -> bool:
    """Try the next delivery of a subscription; whether there was one that got through."""
    delivery = await beside_sessions(claim, subscription_pk)
    if delivery is None:
        return False
    status, error = await _tried(client, delivery)
    await beside_sessions(ended, delivery, status, error)
    return not error


async def _tried(client: httpx.AsyncClient, delivery: WebhookDelivery) -> tuple[int | None, str]:
    secret = unlocked(delivery.subscription.secret)
    if secret is None:
        return None, "The secret cannot be read: SECRET_KEY is another one. Give the webhook a new one."
    url = delivery.subscription.url
    try:
        # Settings may have changed since it was made.
        check_url(url)
    except ValidationFailed as refused:
        return None, refused.message
    now = time.time()
    body = json.dumps(
        signing.signed(envelope_of(delivery, int(now * 1_000)), secret),
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()
    headers = {
        "Content-Type": "application/json",
        **signing.headers(secret, delivery.event_id, int(now), body),
    }
    try:
        # What is answered is not read.
        async with (
            asyncio.timeout(ATTEMPT_SECONDS),
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            status = response.status_code
    except TimeoutError:
        return None, f"There was no answer within {ATTEMPT_SECONDS:g} seconds."
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as failed:
        # UnicodeError: a host that is no name of IDNA.
        return None, f"{type(failed).__name__}: {failed}"[:512]
    return status, "" if 200 <= status < 300 else f"The service answered {status}."


def ended(delivery: WebhookDelivery, status: int | None, error: str) -> None:
    """Store what came of an attempt."""
    now = timezone.now()
    delivery.attempts += 1
    delivery.status, delivery.error = status, error
    if not error:
        delivery.state, delivery.ended_at = "delivered", now
    elif delivery.attempts >= conf.BEACH_WEBHOOK_ATTEMPTS or status == GONE:
        delivery.state, delivery.ended_at = "dead", now
    else:
        delivery.next_at = now + timedelta(seconds=wait_after(delivery.attempts))
    delivery.save(update_fields=["attempts", "status", "error", "state", "ended_at", "next_at"])
    if status == GONE:
        delivery.subscription.is_active = False
        delivery.subscription.save(update_fields=["is_active"])


def wait_after(attempts: int) -> float:
    """Seconds until the next attempt, after so many."""
    return min(MOST_SECONDS, FIRST_SECONDS * float(2 ** (attempts - 1)))


def client() -> httpx.AsyncClient:
    """For all webhooks of a process: no redirects, nothing of the environment."""
    return httpx.AsyncClient(
        timeout=TIMEOUT_SECONDS,
        follow_redirects=False,
        trust_env=False,
        headers={"User-Agent": f"Beach/{conf.BEACH_AGENT_VERSION}"},
    )
