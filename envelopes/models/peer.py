from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models


class Peer(models.Model):
    """A program that talks to agents here (D16): known by a token, of which only the SHA-256 is kept.

    ``scopes`` are names of ``registries.scopes``. ``rate`` is how many requests a minute it may make of one process.
    ``card`` is its Agent Card as it gave it; what it consumes is read from there.
    """

    name = models.CharField(
        max_length=56,
        unique=True,
        validators=[
            RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9_.-]*\Z", "Use letters, digits, '_', '.' and '-'.")
        ],
    )
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    token_end = models.CharField(max_length=4, editable=False)
    scopes = models.JSONField(default=list, blank=True)
    rate = models.PositiveIntegerField(default=120)
    card = models.JSONField(null=True, blank=True)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
