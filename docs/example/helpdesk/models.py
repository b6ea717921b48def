"""What the shop keeps: orders, and what was paid back."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Order(models.Model):
    class Stage(models.TextChoices):
        ORDERED = "Ordered"
        PACKED = "Packed"
        SHIPPED = "Shipped"
        DELIVERED = "Delivered"

    number = models.CharField(max_length=12, unique=True)
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="orders")
    item = models.CharField(max_length=80)
    euros = models.DecimalField(max_digits=8, decimal_places=2)
    stage = models.CharField(max_length=12, choices=Stage, default=Stage.ORDERED)

    def __str__(self) -> str:
        return f"{self.number}: {self.item}"


class Refund(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="refunds")
    euros = models.DecimalField(max_digits=8, decimal_places=2)
    # The call that paid it, and its conversation.
    call = models.CharField(max_length=128, unique=True)
    conversation = models.CharField(max_length=64, db_index=True)

    def __str__(self) -> str:
        return f"{self.euros} for {self.order.number}"
