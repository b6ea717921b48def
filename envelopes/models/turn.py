from __future__ import annotations

from django.db import models

from envelopes.models.ids import public_id
from envelopes.models.session import Session
from envelopes.registries.state_machines import TURN


class Turn(models.Model):
    """From an inbound event to settlement, run by one runner at a time.

    ``status`` is where it stands (``state_machines.TURN``); ``turn_state`` what its actor declared last. Everything
    that a runner needs to go on after a crash is here: ``messages`` (the model's, in the shape of the Messages API),
    ``model`` (which one wrote them), ``results`` (answers to the tool calls of the last reply, by call id),
    ``correction`` (what the model has to hear with them), ``live`` (the text that streams now).
    ``attempt`` counts claims; it fences every write, so a runner that was overtaken cannot write. ``recoveries`` counts
    how often in a row it was taken over from a runner that was gone, without a step in between.
    """

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField()
    actor = models.CharField(max_length=64)
    status = models.CharField(max_length=9, choices=[(s, s) for s in TURN.states], default="queued")
    turn_state = models.CharField(max_length=32, blank=True)
    finalized_by = models.CharField(max_length=16, blank=True)
    trigger = models.JSONField(default=dict)
    trigger_seq = models.BigIntegerField(default=0)
    messages = models.JSONField(default=list)
    model = models.CharField(max_length=128, blank=True)
    results = models.JSONField(default=dict)
    live = models.JSONField(default=dict)
    corrections = models.PositiveIntegerField(default=0)
    nudges = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    correction = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    attempt = models.PositiveIntegerField(default=0)
    recoveries = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=128, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        # By the column: by the relation would join the session and sort by its own order.
        ordering = ["session_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="turn_number"),
            models.UniqueConstraint(
                fields=["session"], condition=models.Q(status="running"), name="turn_one_running_a_session"
            ),
        ]
        indexes = [models.Index(fields=["status", "lease_until"], name="turn_runnable")]

    def __str__(self) -> str:
        return f"Turn {self.number} of session {self.session_id}"
