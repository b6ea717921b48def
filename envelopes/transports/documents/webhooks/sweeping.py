"""What of webhooks nobody asks for any more, deleted a piece at a time: events that were delivered or given up long
ago, and cursors of conversations that have been quiet since."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from envelopes.conf import conf
from envelopes.models import WebhookCursor, WebhookDelivery

SWEPT_AT_ONCE = 1_000
"""In one transaction: whoever wants to write meanwhile waits for it."""


def sweep() -> int:
    """Delete ``SWEPT_AT_ONCE`` of each kind at most; returns how many of the kind of which there were more.

    A cursor goes where its conversation was quiet for as long before the last look: its older rows are then known to
    have been told (``reading_log``).
    """
    kept = timedelta(days=conf.BEACH_WEBHOOK_DAYS)
    ended = WebhookDelivery.objects.filter(ended_at__lte=timezone.now() - kept).exclude(state="pending")
    quiet = WebhookCursor.objects.filter(session__updated_at__lt=F("subscription__read_until") - kept)
    return max(
        WebhookDelivery.objects.filter(
            pk__in=ended.order_by("ended_at").values("pk")[:SWEPT_AT_ONCE]
        ).delete()[0],
        WebhookCursor.objects.filter(pk__in=quiet.order_by("pk").values("pk")[:SWEPT_AT_ONCE]).delete()[0],
    )
