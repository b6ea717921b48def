from __future__ import annotations

from django.db import models

from envelopes.models.ids import public_id


class Nonce(models.Model):
    """A name that somebody has used up, by its SHA-256. ``made_with`` tells whoever was first from whoever was not."""

    scope = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    made_with = models.CharField(max_length=32, default=public_id)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "digest"], name="nonce_used_once")]

    def __str__(self) -> str:
        return "a nonce"
