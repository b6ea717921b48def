from __future__ import annotations

from django.db import models
from django.db.models import Value

from envelopes.models.session import Session
from envelopes.models.turn import Turn
from envelopes.registries.statuses import TOOL_CALL


class ToolCall(models.Model):
    """One call of a tool by an actor. The row is claimed (``running``) before the tool runs, so it runs once (D19).

    ``args`` are what runs, exactly; ``digest`` is that of tool and arguments (D53). ``seconds``: from when it was
    claimed until it was over, or known that nobody knows; None for what never ran. ``attempt`` counts how often it was
    claimed, more than once only after a crash; ``tries`` are the last runs of its function, several where it was tried
    again: ``{seconds, ended, error?, waited?, left?}``, for staff (``runtime.trying``).
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tool_calls")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tool_calls")
    call_id = models.CharField(max_length=128)
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=128)
    args = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=20, choices=[(s, s) for s in TOOL_CALL.states], default="requested")
    background = models.BooleanField(default=False)
    result = models.JSONField(null=True, blank=True)
    error = models.JSONField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=128, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    tries = models.JSONField(default=list, db_default=Value([], models.JSONField()), blank=True)

    class Meta:
        verbose_name = "action"
        # By the column: by the relation would join turn and session and sort by their order.
        ordering = ["turn_id", "position"]
        constraints = [models.UniqueConstraint(fields=["turn", "call_id"], name="tool_call_id")]
        # The state first: SQLite does not look up a bare boolean in an index, and every process asks once a second.
        indexes = [models.Index(fields=["state", "lease_until"], name="tool_call_state")]

    def __str__(self) -> str:
        return self.name
