"""From rows of the log to deliveries: each event once for each subscription, in the order of its conversation.

Nothing is stored where rows are: whoever appends pays nothing for it. A subscription is read for by one process at
a time.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from envelopes.models import Event, Session, WebhookCursor, WebhookDelivery, WebhookSubscription
from envelopes.ownership import sessions_since
from envelopes.peers import principal_of_peer
from envelopes.transports.documents.outbound import of_event
from envelopes.transports.documents.webhooks.events import ROWS, event_of

SESSIONS_AT_ONCE = 100
ROWS_AT_ONCE = 500

BACKLOG = 1_000
"""Deliveries that wait for one service. Behind so many the log itself waits, where nothing is lost."""

SLACK = timedelta(minutes=5)
"""A transaction may commit long after the time that it has written into its conversation."""


def active() -> list[int]:
    """Subscriptions that are told of anything."""
    return list(WebhookSubscription.objects.filter(is_active=True).values_list("pk", flat=True))


def read_log(subscription_pk: int) -> bool:
    """Make deliveries of what is new for a subscription, so much at once; whether there is more. Another process that
    does the same for it is not waited for."""
    with transaction.atomic():
        locked = WebhookSubscription.objects.select_for_update(skip_locked=_skips()).filter(
            pk=subscription_pk, is_active=True
        )
        subscription = locked.first()
        if subscription is None:
            return False
        began = timezone.now()
        found = list(_with_news(subscription)[:SESSIONS_AT_ONCE])
        more = len(found) == SESSIONS_AT_ONCE
        for session in found:
            if subscription.deliveries.filter(state="pending")[:BACKLOG].count() >= BACKLOG:
                return False
            more |= _read(subscription, session)
        if not more:
            subscription.read_until = began
            subscription.save(update_fields=["read_until"])
        return more


def _skips() -> bool:
    from django.db import connection

    return connection.features.has_select_for_update_skip_locked


def _with_news(subscription: WebhookSubscription) -> QuerySet[Session]:
    cursor = WebhookCursor.objects.filter(subscription=subscription, session=OuterRef("pk")).values("seq")
    owner = principal_of_peer(subscription.peer).key if subscription.peer is not None else ""
    sessions = sessions_since(subscription.read_until - SLACK, owner)
    told = Coalesce(Subquery(cursor), 0)
    return sessions.annotate(told=told).filter(last_seq__gt=F("told")).order_by("updated_at", "pk")


def _read(subscription: WebhookSubscription, session: Session) -> bool:
    """One conversation; whether there is more of it."""
    told = int(session.told)  # type: ignore[attr-defined]  # annotated
    # Of one without a cursor all that is older has been told, and swept.
    since = subscription.since if told else max(subscription.since, subscription.read_until - SLACK)
    wanted = Q(kind__in=[kind for kind in ROWS if kind != "part"]) | Q(kind="part", audience="delivered")
    rows = Event.objects.filter(wanted, session=session, seq__gt=told, at__gte=since)
    page = [event.as_row() for event in rows.order_by("seq")[:ROWS_AT_ONCE]]
    made = []
    for row in page:
        event = event_of(session.public_id, row)
        if event is None or (subscription.events and event.type not in subscription.events):
            continue
        message = of_event(session.public_id, row, event)
        made.append(
            WebhookDelivery(
                subscription=subscription,
                event_id=event.id,
                event_type=event.type,
                resource_id=session.public_id,
                data={**event.data, "message": message},
            )
        )
    WebhookDelivery.objects.bulk_create(made, ignore_conflicts=True)
    is_page = len(page) == ROWS_AT_ONCE
    # Rows that were appended since the session was read are found by the next look.
    upto = page[-1].seq if is_page else session.last_seq
    WebhookCursor.objects.update_or_create(subscription=subscription, session=session, defaults={"seq": upto})
    return is_page
