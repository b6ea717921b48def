"""The address of the door, below those of a test."""

from __future__ import annotations

from tests.envelopes.transports.callers.transport import CALLING

urlpatterns = list(CALLING.routes())
