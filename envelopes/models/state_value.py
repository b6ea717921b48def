from __future__ import annotations

from django.db import models

from envelopes.models.session import Session


class StateValue(models.Model):
    """The state of one coordinate of a session, ``name`` as ``<component>.<coordinate>``, since row ``seq`` of its log.

    A coordinate that nobody has changed has no row: it is where its machine begins.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="state_values")
    name = models.CharField(max_length=129)
    value = models.CharField(max_length=128)
    seq = models.BigIntegerField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="state_value_once")]

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"
