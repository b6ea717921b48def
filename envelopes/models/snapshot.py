from __future__ import annotations

from django.db import models

from envelopes.models.session import Session

SURFACES = ""
"""The ``transport`` of a snapshot of the surfaces, which belong to none."""


class Snapshot(models.Model):
    """A session as it stood after row ``seq``; rows after it are applied on top. Can be thrown away.

    ``transport``: whose presenter this is; the surfaces at the same row lie beside it, under ``SURFACES``.
    ``keyframe``: kept for whoever looks back (``session_state.replay``), and not as one of the last few.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="snapshots")
    seq = models.BigIntegerField()
    version = models.PositiveIntegerField()
    # A database default, since a process of the version before may still write while this one starts.
    transport = models.CharField(max_length=64, default=SURFACES, db_default=SURFACES)
    data = models.JSONField()
    keyframe = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "transport", "version", "seq"], name="snapshot_once")
        ]

    def __str__(self) -> str:
        return f"{self.session_id} at {self.seq}"
