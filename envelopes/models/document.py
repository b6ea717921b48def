from __future__ import annotations

from django.db import models

from envelopes.models.session import Session
from envelopes.models.turn import Turn


class Document(models.Model):
    """A document (seed 003) in its normal form, as the last patch left it, with the turn that it began: what later
    patches of its surface are applied to, and where they belong. ``version`` counts them.

    ``flag`` is the one of an experimental document, "" for any other; ``blocked`` why a placeholder stands in its
    place (``protocol.rows.Blocked``), "" where it is shown."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="documents")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="+")
    owner = models.CharField(max_length=128)
    surface = models.CharField(max_length=128)
    document = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    flag = models.CharField(max_length=96, blank=True, default="")
    blocked = models.CharField(max_length=32, blank=True, default="")

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["session", "owner", "surface"], name="document_once")]
        indexes = [models.Index(fields=["flag"], condition=~models.Q(flag=""), name="document_flag")]

    def __str__(self) -> str:
        return f"{self.surface} of {self.owner}"
