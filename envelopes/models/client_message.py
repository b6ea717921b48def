from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class ClientMessage(models.Model):
    """A message of a client that had an effect, with the answer it got: a repeat is answered, not run again (D36)."""

    # By ``client_message_once``.
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+", db_index=False)
    principal = models.CharField(max_length=80)
    message_id = models.CharField(max_length=64)
    answer = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "principal", "message_id"], name="client_message_once")
        ]
        indexes = [models.Index(fields=["at"], name="client_message_age")]

    def __str__(self) -> str:
        return self.message_id
