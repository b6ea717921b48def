from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class Snapshot(models.Model):
    """A session's live view as it stood after row ``seq``; rows after it are applied on top. Can be thrown away."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="snapshots")
    seq = models.BigIntegerField()
    version = models.PositiveIntegerField()
    data = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "seq", "version"], name="snapshot_seq")]

    def __str__(self) -> str:
        return f"{self.session_id} at {self.seq}"
