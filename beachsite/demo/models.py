"""The one thing the demo remembers: what was bought."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class Booking(models.Model):
    """A booking. ``call_id`` is unique: a tool call that ran twice would be an error here, not a second ticket."""

    reference = models.CharField(max_length=12, unique=True)
    call_id = models.CharField(max_length=128, unique=True)
    session_id = models.CharField(max_length=64, db_index=True)
    flight = models.CharField(max_length=80)
    date = models.DateField()
    lead_passenger = models.CharField(max_length=120)
    email = models.EmailField(blank=True)
    tickets = models.PositiveSmallIntegerField()
    total = models.DecimalField(max_digits=9, decimal_places=2)
    currency = models.CharField(max_length=3)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.reference}, {self.flight}"
