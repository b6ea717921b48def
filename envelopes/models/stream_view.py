from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class StreamView(models.Model):
    """What one kind of reader gets of a session's log over a transport that counts its deliveries (D34, D68).

    ``wants`` are the kinds of deliveries that it has, fixed when it is made; ``key`` stands for them. ``last`` is the
    number of its newest delivery, from 1 without gaps, and ``upto`` the row of the log up to which all have theirs:
    both are moved in the transaction that appends rows (``log.numbering``). ``used_at`` is when somebody last
    subscribed to it.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="stream_views")
    transport = models.CharField(max_length=64)
    key = models.CharField(max_length=64)
    wants = models.JSONField(default=list)
    last = models.BigIntegerField(default=0)
    upto = models.BigIntegerField(default=0)
    used_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "transport", "key"], name="stream_view_once")
        ]

    def __str__(self) -> str:
        return f"{self.transport} {self.key[:8]}, {self.last} deliveries"


class StreamDelivery(models.Model):
    """One delivery of a view: its number, the row that made it, its channel, and whether it is replayed (``none``,
    ``latest``, ``all``), as that was when it was made. What is sent is made of the row."""

    # Both of its other indexes begin with it, and each is written with every delivery.
    view = models.ForeignKey(StreamView, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    seq = models.BigIntegerField()
    row = models.BigIntegerField(db_column="log_seq")
    channel = models.CharField(max_length=512)
    replay = models.CharField(max_length=6)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["view", "seq"], name="stream_delivery_seq")]
        indexes = [models.Index(fields=["view", "row"], name="stream_delivery_row")]

    def __str__(self) -> str:
        return f"{self.seq} {self.channel}"
