"""The addresses of the door, below those of a test."""

from __future__ import annotations

from tests.envelopes.transports.plain.transport import PLAIN

urlpatterns = list(PLAIN.routes())
