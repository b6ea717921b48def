from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from envelopes.models.approval import Approval


class ApprovalNotice(models.Model):
    """That people were looked for who hear of a question by mail: once for each, however many processes look. One that
    is asked anew has another id (``asked_as``), and is another one."""

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="notices")
    asked_as = models.CharField(max_length=32)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["approval", "asked_as"], name="approval_noticed_once")]

    def __str__(self) -> str:
        return f"notice of {self.approval_id}"


class ApprovalMail(models.Model):
    """One mail about one question to one user.

    ``state``: ``queued``; ``sending``, from before it is given to the mail server; ``sent``; ``failed``, after as many
    attempts as there are; ``dropped``, where there was nothing left to ask. One that stays ``sending`` was cut off in
    between: nobody knows whether it went out, so it is not sent again. ``token`` is the SHA-256 of what a reply has to
    bring; ``used_at`` is when one decided by it. ``asked_as`` is the id under which it was asked
    then, ``digest`` that of the call.
    """

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="mails")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    asked_as = models.CharField(max_length=32)
    digest = models.CharField(max_length=64)
    token = models.CharField(max_length=64, blank=True, db_index=True)
    state = models.CharField(max_length=8, default="queued")
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    answers = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=256, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["approval", "asked_as", "user"], name="approval_mailed_once")
        ]
        indexes = [models.Index(fields=["state", "next_at"], name="approval_mail_due")]

    def __str__(self) -> str:
        return f"mail about {self.approval_id}"
