"""Bookings in the admin: to look at, not to change."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from beachsite.demo.models import Booking


@admin.register(Booking)
class BookingAdmin(admin.ModelAdmin[Booking]):
    list_display = (
        "reference",
        "flight",
        "date",
        "lead_passenger",
        "tickets",
        "price",
        "created_at",
    )
    search_fields = ("reference", "lead_passenger", "session_id")

    @admin.display(description="total", ordering="total")
    def price(self, booking: Booking) -> str:
        return f"{booking.total} {booking.currency}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
