from __future__ import annotations

from django.conf import settings
from django.db import models

from envelopes.models.ids import public_id
from envelopes.models.session import Session
from envelopes.models.tool_call import ToolCall
from envelopes.models.turn import Turn
from envelopes.registries.statuses import APPROVAL


class Approval(models.Model):
    """A stored question about one exact tool call; decided once.

    The first block of fields is that of the ``approval-request`` part (approval document); ``question``, ``why`` and
    ``risk`` are what the person was shown. ``rule`` is what the tool's policy answered when it was asked
    (``approvals.rules``). ``version`` counts how often it was asked anew: each time under a new ``approval_id``; what
    it was before is in ``earlier``. ``decided_by`` and what stands beside it are of the decision that settled it; all
    of them are in ``decisions``.
    """

    approval_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    tool_call = models.OneToOneField(ToolCall, on_delete=models.CASCADE, related_name="approval")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="approvals")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="approvals")
    tool_name = models.CharField(max_length=128)
    args = models.JSONField(default=dict)
    handler = models.CharField(max_length=64)
    expires_at = models.DateTimeField(null=True, blank=True)

    digest = models.CharField(max_length=64)
    risk = models.CharField(max_length=8, choices=[("low", "low"), ("medium", "medium"), ("high", "high")])
    question = models.CharField(max_length=512)
    why = models.CharField(max_length=512, blank=True)
    attempt = models.PositiveIntegerField(default=1)
    version = models.PositiveIntegerField(default=1)
    rule = models.JSONField(default=dict, blank=True)

    state = models.CharField(max_length=8, choices=[(s, s) for s in APPROVAL.states], default="pending")
    requested_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=128, blank=True)
    decided_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.CharField(max_length=512, blank=True)
    source = models.CharField(max_length=16, blank=True)

    class Meta:
        ordering = ["-requested_at", "-pk"]
        permissions = [("decide_approval", "Can decide approvals")]
        indexes = [
            models.Index(fields=["state", "expires_at"], name="approval_due"),
            # What was decided, the newest first: the desk's list, its day, and whether anything has changed.
            models.Index(fields=["-decided_at", "-id"], name="approval_decided"),
        ]

    def __str__(self) -> str:
        return self.question

    @property
    def asked_as(self) -> list[str]:
        """Every id under which it was asked, the present one last."""
        earlier = (
            self.earlier.order_by("version").values_list("asked_as", flat=True) if self.version > 1 else []
        )
        return [*earlier, self.approval_id]
