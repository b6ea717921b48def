from __future__ import annotations

from django.db import models

from envelopes.models.ids import public_id
from envelopes.models.session import Session
from envelopes.models.turn import Turn


class Consent(models.Model):
    """What a person was asked for an experimental document of ``owner``, and what they said last.

    It holds for these words and this way of listening: other ones are another question, asked anew. ``turn`` is the one
    in which the question stands."""

    class State(models.TextChoices):
        ASKED = "asked"
        GRANTED = "granted"
        REFUSED = "refused"

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="consents")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="+")
    owner = models.CharField(max_length=128)
    track_id = models.CharField(max_length=64)
    flag = models.CharField(max_length=96)
    summary = models.CharField(max_length=240)
    listens = models.BooleanField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.ASKED)
    by = models.CharField(max_length=128, blank=True)
    asked_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "owner", "track_id", "flag"], name="consent_once")
        ]

    def __str__(self) -> str:
        return self.track_id
