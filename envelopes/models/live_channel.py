from __future__ import annotations

from django.conf import settings
from django.db import models

from envelopes.models.peer import Peer
from envelopes.models.session import Session


class LiveChannel(models.Model):
    """What the live channel keeps of a session beside its log: the contract that its agent has declared (None: that of
    the actor), those of single surfaces, ``{owner, surfaceId, contract}``, the channels of them that are complete, and
    the surroundings that the last client has told (None: nobody has)."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="live_channel")
    contract = models.JSONField(null=True)
    surfaces = models.JSONField(default=list)
    completed = models.JSONField(default=list)
    host_context = models.JSONField(null=True)

    def __str__(self) -> str:
        return f"Live channel of session {self.session_id}"


class LiveToken(models.Model):
    """A token of the live channel: lets one principal in to one session, until it expires. Only its SHA-256 is kept.

    ``purpose``: ``subscribe`` (handed to a page, for its first subscribe) or ``session`` (to come back with). It counts
    for no longer than what it was given for: the login with the key ``login``, the guest ``owner_key``, or the peer
    with its token of then.
    """

    digest = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=9)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    app = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    login = models.CharField(max_length=64, blank=True)
    owner_key = models.CharField(max_length=64, blank=True)
    peer = models.ForeignKey(Peer, null=True, on_delete=models.CASCADE, related_name="+")
    peer_digest = models.CharField(max_length=64, blank=True)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="live_token_age")]

    def __str__(self) -> str:
        return f"{self.purpose} token of session {self.session_id}"
