from __future__ import annotations

from django.conf import settings
from django.db import models

from envelopes.models.session import Session


class Note(models.Model):
    """What a member of staff wrote about a conversation, for other staff alone: no row of its log, so no transport has
    it. ``key`` is what the page gave it, by which it is stored once."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="notes")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(max_length=150)
    text = models.TextField()
    key = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="note_once")]

    def __str__(self) -> str:
        return self.text[:80]
