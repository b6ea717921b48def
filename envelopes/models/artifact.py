from __future__ import annotations

from django.db import models

from envelopes.models.ids import public_id
from envelopes.models.session import Session


class Artifact(models.Model):
    """A file that belongs to a session; ``artifact`` parts refer to it by ``artifact_id``."""

    artifact_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="artifacts")
    name = models.CharField(max_length=200)
    mime_type = models.CharField(max_length=128)
    size_bytes = models.PositiveBigIntegerField()
    content = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name
