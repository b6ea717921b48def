"""Subscriptions: who is told of what. Synchronous."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils import timezone

from envelopes.conf import conf
from envelopes.errors import Conflict, NotFound, ValidationFailed
from envelopes.models import Peer, WebhookDelivery, WebhookSubscription
from envelopes.secrets import locked
from envelopes.transports.documents.webhooks import signing
from envelopes.transports.documents.webhooks.events import EVENTS
from envelopes.transports.documents.webhooks.targets import check_target


def check_url(url: str) -> None:
    """Raises ``ValidationFailed`` for an address that webhooks may not be sent to, by the settings of now."""
    check_target(url, conf.BEACH_WEBHOOK_HOSTS, insecure=conf.BEACH_WEBHOOK_HTTP)


def add(
    name: str, url: str, events: Iterable[str] = (), *, peer: Peer | None = None
) -> tuple[WebhookSubscription, str]:
    """A new subscription, from now on, and its secret, which is told this once.

    Raises ``ValidationFailed`` for a name or an address that is none, and an event that does not exist; ``Conflict``
    for a name that is taken.
    """
    wanted = list(dict.fromkeys(events))
    if unknown := sorted(set(wanted).difference(EVENTS)):
        raise ValidationFailed(f"There is no event {', '.join(unknown)}.", allowed=list(EVENTS))
    check_url(url)
    made = WebhookSubscription(name=name, url=url, events=wanted, peer=peer)
    secret = new_secret(made)
    try:
        made.clean_fields()
        made.save(force_insert=True)
    except ValidationError as error:
        raise ValidationFailed(f"{name!r} is not what a webhook can be called.", path="/name") from error
    except IntegrityError as error:
        raise Conflict(f"There is a webhook {name!r} already.") from error
    return made, secret


def new_secret(subscription: WebhookSubscription) -> str:
    """A secret for ``subscription``, which is not saved."""
    secret = signing.new_secret()
    subscription.secret = locked(secret)
    return secret


def named(name: str) -> WebhookSubscription:
    """Raises ``NotFound``."""
    found = WebhookSubscription.objects.filter(name=name).first()
    if found is None:
        known = ", ".join(WebhookSubscription.objects.values_list("name", flat=True)) or "none"
        raise NotFound(f"There is no webhook {name!r}. Known: {known}.")
    return found


def set_active(subscription: WebhookSubscription, *, active: bool) -> None:
    """Send to it again from now on, or no more: what happens meanwhile is not told."""
    if active and not subscription.is_active:
        subscription.since = subscription.read_until = timezone.now()
        subscription.cursors.all().delete()
    subscription.is_active = active
    subscription.save(update_fields=["is_active", "since", "read_until"])


def retry(subscription: WebhookSubscription) -> int:
    """Try again what has been given up; how many."""
    dead = WebhookDelivery.objects.filter(subscription=subscription, state="dead")
    return dead.update(state="pending", attempts=0, next_at=timezone.now(), ended_at=None)
