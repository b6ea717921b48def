"""The streams of events that this process has open."""

from __future__ import annotations

from envelopes.quotas import Quota

streams = Quota("streams", "BEACH_STREAMS_PER_CALLER", "BEACH_STREAMS")
"""By the key of whoever has them (``access.Principal.key``); each counts until it has ended, however that was."""
