from __future__ import annotations

from django.conf import settings
from django.db import models

from envelopes.models.approval import Approval


class Decision(models.Model):
    """What one principal, or a rule, has decided about one version of an approval. Several of them may be needed.

    ``by`` is the key of the principal or ``policy:<rule>``; ``name`` what people call them, empty for a guest; ``role``
    by what right: owner, permission, group:<name>, peer, policy:<rule>. ``source`` is the door, ``digest`` that of the
    call as it was then.
    """

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="decisions")
    version = models.PositiveIntegerField(default=1)
    decision = models.CharField(max_length=8, choices=[("granted", "granted"), ("denied", "denied")])
    by = models.CharField(max_length=128)
    by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(max_length=255, blank=True)
    role = models.CharField(max_length=160)
    source = models.CharField(max_length=16)
    reason = models.CharField(max_length=512, blank=True)
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "pk"]
        constraints = [models.UniqueConstraint(fields=["approval", "version", "by"], name="decision_once")]

    def __str__(self) -> str:
        return f"{self.decision} by {self.name or self.by}"


class Decider(models.Model):
    """Who may answer an open question, for whoever looks for what is theirs to decide: ``owner``, ``peer:<name>``,
    ``permission:<app.codename>``, ``group:<name>``. Gone when it is answered: ``Approval.rule`` says it for good."""

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="deciders")
    token = models.CharField(max_length=192)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["approval", "token"], name="decider_once")]
        indexes = [models.Index(fields=["token"], name="decider_token")]

    def __str__(self) -> str:
        return self.token


class ApprovalVersion(models.Model):
    """A question as it stood before it was asked anew: its arguments were edited (D20), or nobody answered in time.

    ``asked_as`` is the id under which it was asked: whoever decides by that one is told what has become of it.
    ``by`` is the key of whoever edited, ``name`` what people call them.
    """

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="earlier")
    version = models.PositiveIntegerField()
    asked_as = models.CharField(max_length=32, unique=True, editable=False)
    args = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    question = models.CharField(max_length=512)
    why = models.CharField(max_length=512, blank=True)
    rule = models.JSONField(default=dict)
    attempt = models.PositiveIntegerField()
    requested_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    cause = models.CharField(max_length=8, choices=[("edited", "edited"), ("expired", "expired")])
    replaced_at = models.DateTimeField()
    by = models.CharField(max_length=128)
    by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(max_length=255, blank=True)

    class Meta:
        ordering = ["version"]
        constraints = [models.UniqueConstraint(fields=["approval", "version"], name="approval_version")]

    def __str__(self) -> str:
        return f"{self.question} (version {self.version})"
