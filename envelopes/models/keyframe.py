from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class Keyframe(models.Model):
    """A session as it was at row ``seq``, with what the presenter of ``transport`` knew then: from where a replay
    starts (``session_state.replay``). The log has all of it; one that goes is made again.

    ``version`` is that of the surfaces and that of the transport's snapshots; others are ignored.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="keyframes")
    transport = models.CharField(max_length=64)
    version = models.CharField(max_length=32)
    seq = models.BigIntegerField()
    data = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "transport", "version", "seq"], name="keyframe_once")
        ]

    def __str__(self) -> str:
        return f"{self.transport} at {self.seq}"
