from __future__ import annotations

from django.db import models

from envelopes.models.turn import Turn


class Injection(models.Model):
    """Something that came back to a turn from outside the model: stored first, consumed by the next step."""

    RESULT = "tool-result"
    """The kind of what a job gave, or a call that nobody waited for any more."""
    STAFF = "staff"
    """The kind of what was said while staff had the conversation: read beside what comes next, it begins nothing."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="injections")
    kind = models.CharField(max_length=32)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    consumed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.kind
