from __future__ import annotations

from django.conf import settings
from django.db import models

from envelopes.models.session import Session


class Claim(models.Model):
    """Who among the staff looks after a conversation: one at a time. People who write in it do not see that.

    ``name`` is what they were called then, for when their account is gone. ``taken_over_at``: since when they write in
    it themselves; ``Session.taken_by`` says so to the runtime.
    """

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="claim")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(max_length=150)
    claimed_at = models.DateTimeField()
    taken_over_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name
