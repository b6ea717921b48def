"""What the demo keeps of a conversation goes with it."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from beachsite.demo.models import Booking
from envelopes.signals import conversation_erased


@receiver(conversation_erased, dispatch_uid="demo_erase_bookings")
def erase_bookings(sender: Any, session_id: str, **kwargs: Any) -> None:
    """Bookings hold names and addresses."""
    Booking.objects.filter(session_id=session_id).delete()
