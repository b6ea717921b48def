from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class AgentCall(models.Model):
    """A call of an agent's function by a surface, as long as it waits for its answer: whoever runs it, and until when.

    What was asked stands in the log (``agent-call``). ``by_tool``: a tool of the actor answers, else the agent itself
    in a turn. ``originators`` and ``hops`` are what a turn gets that further calls open.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="agent_calls")
    call_id = models.CharField(max_length=128)
    owner = models.CharField(max_length=128)
    version = models.CharField(max_length=16)
    name = models.CharField(max_length=256)
    args = models.JSONField(default=dict)
    by_tool = models.BooleanField()
    originators = models.JSONField(default=list)
    hops = models.PositiveIntegerField(default=0)
    deadline = models.DateTimeField()
    attempt = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=128, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["session", "call_id"], name="agent_call_id")]
        indexes = [models.Index(fields=["deadline"], name="agent_call_deadline")]

    def __str__(self) -> str:
        return f"{self.name} ({self.call_id})"
