from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from envelopes.models.peer import Peer
from envelopes.models.session import Session


class WebhookSubscription(models.Model):
    """A service that is told of events: of all conversations or, with ``peer``, of those that one owns.

    ``events`` are types of ``webhooks.events``; none stands for all. ``secret`` signs what is sent, and is encrypted
    here. Rows before ``since`` are not told; ``read_until`` is up to when conversations have been looked at.
    """

    name = models.CharField(
        max_length=56,
        unique=True,
        validators=[
            RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9_.-]*\Z", "Use letters, digits, '_', '.' and '-'.")
        ],
    )
    url = models.CharField(max_length=2048)
    secret = models.TextField(editable=False)
    events = models.JSONField(default=list, blank=True)
    peer = models.ForeignKey(Peer, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    is_active = models.BooleanField(default=True)
    since = models.DateTimeField(default=timezone.now, editable=False)
    read_until = models.DateTimeField(default=timezone.now, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class WebhookCursor(models.Model):
    """Up to which row of a conversation a subscription has been told of it."""

    subscription = models.ForeignKey(WebhookSubscription, on_delete=models.CASCADE, related_name="cursors")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    seq = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["subscription", "session"], name="webhook_cursor_once")
        ]

    def __str__(self) -> str:
        return str(self.seq)


class WebhookDelivery(models.Model):
    """One event for one subscription, in the order of ``pk``. ``event_id`` stays the same however often it is sent.

    ``state``: ``pending``; ``delivered``; ``dead``, after as many attempts as there are. ``next_at`` is when it is
    tried next; whoever tries it moves that first, so that no other process does meanwhile.
    """

    subscription = models.ForeignKey(WebhookSubscription, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.CharField(max_length=26)
    event_type = models.CharField(max_length=128)
    resource_id = models.CharField(max_length=128)
    data = models.JSONField()
    state = models.CharField(
        max_length=9, choices=[(s, s) for s in ("pending", "delivered", "dead")], default="pending"
    )
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveIntegerField(null=True, blank=True)
    error = models.CharField(max_length=512, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "webhook deliveries"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["subscription", "event_id"], name="webhook_event_once")
        ]
        indexes = [
            models.Index(
                fields=["subscription", "id"], condition=models.Q(state="pending"), name="webhook_pending"
            )
        ]

    def __str__(self) -> str:
        return f"{self.event_type} {self.event_id}"
