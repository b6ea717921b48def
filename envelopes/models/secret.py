from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class Secret(models.Model):
    """A value typed into an obscured field: encrypted, short-lived, known elsewhere by its token only (R9, D24)."""

    token = models.CharField(max_length=32, unique=True)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    ciphertext = models.TextField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return "a secret"
