"""From rows of the log to what a transport sends: who gets what (``rules``), one reader of one log (``follower``), text
while it is written (``deltas``, ``streamed``, ``relay``), envelopes. What a door needs of it is named here."""

from __future__ import annotations

from envelopes.delivery import event_stream
from envelopes.delivery.catching_up import Changed, NotInLog
from envelopes.delivery.envelope import envelope_for, partial_envelope_for
from envelopes.delivery.follower import AWAY, Follower
from envelopes.delivery.items import Item, UpToDate
from envelopes.delivery.rules import Reader
from envelopes.delivery.streamed import PlacedDelta
from envelopes.delivery.streams import streams

__all__ = [
    "AWAY",
    "Changed",
    "Follower",
    "Item",
    "NotInLog",
    "PlacedDelta",
    "Reader",
    "UpToDate",
    "envelope_for",
    "event_stream",
    "partial_envelope_for",
    "streams",
]
