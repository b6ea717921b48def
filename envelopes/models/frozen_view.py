from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class FrozenView(models.Model):
    """What a presenter has let go of because no later row changes it (``registries.transports.Frozen``). Never changed.

    Can be thrown away: the log has all of it. ``version`` is the ``snapshot_version`` of the transport.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="frozen_views")
    transport = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    number = models.BigIntegerField()
    name = models.CharField(max_length=64, default="", blank=True)
    seq = models.BigIntegerField()
    data = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "transport", "version", "number", "name"], name="frozen_view_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.session_id} {self.number} {self.name}".rstrip()
