"""Deliveries with numbers that nobody will ask for any more: of rows so far back that they are not replayed.

Of those, three kinds stay, by which a subscription tells where it begins: the newest one of a view, the newest one that
was kept for all (it says that some are gone), and the newest one of each channel that keeps its latest.
"""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from envelopes.models.stream_view import StreamDelivery

TRIMMED_AT_ONCE = 1_000


def trim(kept_rows: int) -> int:
    """Delete the deliveries of rows that have ``kept_rows`` rows of their log behind them, ``TRIMMED_AT_ONCE`` at most;
    returns how many. In a thread."""
    old = StreamDelivery.objects.filter(row__lt=F("view__upto") - kept_rows)
    later = old.filter(view=OuterRef("view"), seq__gt=OuterRef("seq"))
    over = (
        Q(replay="none")
        | Q(Exists(later.filter(replay="all")), replay="all")
        | Q(Exists(later.filter(replay="latest", channel=OuterRef("channel"))), replay="latest")
    )
    found: QuerySet[StreamDelivery] = old.filter(Exists(later)).filter(over)
    return StreamDelivery.objects.filter(
        pk__in=list(found.values_list("pk", flat=True)[:TRIMMED_AT_ONCE])
    ).delete()[0]
