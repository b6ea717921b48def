from __future__ import annotations

from django.db import models

from envelopes.models.session import Session
from envelopes.protocol.rows import Audience, Row


class Event(models.Model):
    """One row of a session's log (``protocol.rows``). Never changed, never deleted on its own."""

    # By ``event_seq``: every row would pay for an index of its own.
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=16)
    part_type = models.CharField(max_length=64, blank=True)
    audience = models.CharField(max_length=9, choices=[("delivered", "delivered"), ("audit", "audit")])
    actor = models.CharField(max_length=64, blank=True)
    turn = models.PositiveIntegerField(default=0)
    data = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        # By the column: by the relation would join the session and sort by its own order.
        ordering = ["session_id", "seq"]
        constraints = [models.UniqueConstraint(fields=["session", "seq"], name="event_seq")]
        # Of replies of models alone, so that other rows pay nothing for it: what a day took (admin.today).
        indexes = [models.Index(fields=["at"], condition=models.Q(kind="provider"), name="event_replies")]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind} {self.part_type}".strip()

    def as_row(self) -> Row:
        audience: Audience = "audit" if self.audience == "audit" else "delivered"
        return Row(self.seq, self.kind, self.at, self.data, self.part_type, self.actor, self.turn, audience)
