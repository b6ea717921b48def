"""Files that somebody has uploaded for a message that never came: deleted after a while, with their bytes."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from envelopes.conf import conf
from envelopes.errors import ValidationFailed
from envelopes.models import Artifact

FORGOTTEN_AT_ONCE = 100
"""Files in one transaction."""


def name(file: Artifact) -> None:
    """Something shows ``file`` now, so it stays. Raises ``ValidationFailed`` where it was deleted just before."""
    if file.is_unnamed and not Artifact.objects.filter(pk=file.pk).update(is_unnamed=False):
        raise ValidationFailed("This file was not used for too long, and is gone.", path="/data/artifactId")


def forget_unnamed() -> int:
    """Delete files that nothing has shown for ``BEACH_UNNAMED_FILE_DAYS``, ``FORGOTTEN_AT_ONCE`` at most; returns how
    many. In a thread."""
    if not conf.BEACH_UNNAMED_FILE_DAYS:
        return 0
    before = timezone.now() - timedelta(days=conf.BEACH_UNNAMED_FILE_DAYS)
    with transaction.atomic():
        old = Artifact.objects.select_for_update().filter(is_unnamed=True, created_at__lt=before)
        found = list(old.order_by("created_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
        Artifact.objects.filter(pk__in=found).delete()
    return len(found)
