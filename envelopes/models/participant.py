from __future__ import annotations

from django.conf import settings
from django.db import models

from envelopes.models.session import Session


class Participant(models.Model):
    """Who takes part in a session, and as what.

    An owner is a user, a browser that holds the anonymous owner cookie (``owner_key`` is the SHA-256 of its token:
    the table cannot be used to sign in), or a program (``owner_key`` is what it is called, ``peer:7``).
    """

    class Role(models.TextChoices):
        OWNER = "owner"
        AGENT = "agent"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="participants")
    role = models.CharField(max_length=8, choices=Role.choices)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    owner_key = models.CharField(max_length=64, blank=True)
    name = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "user"], condition=models.Q(user__isnull=False), name="participant_user"
            ),
            models.UniqueConstraint(
                fields=["session", "owner_key"],
                condition=~models.Q(owner_key=""),
                name="participant_owner_key",
            ),
        ]
        indexes = [models.Index(fields=["owner_key"], name="participant_key")]

    def __str__(self) -> str:
        return self.name or self.get_role_display()
