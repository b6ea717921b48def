"""The decision log: who was asked, shown and told what, who decided, and what came of it. Added to, never changed.

``record`` writes an entry in the transaction of what it records. The entries of a site are one hash chain
(``audit.chain``) over salted digests, so that erasing what tells of a person leaves it verifiable (D26).
"""

from envelopes.audit.history import Entry, history_of
from envelopes.audit.recording import (
    RULE,
    asked,
    beside_a_page,
    executed,
    has_room,
    record,
    refused,
    shown,
    shown_in,
    turned_away,
)

__all__ = [
    "RULE",
    "Entry",
    "asked",
    "beside_a_page",
    "executed",
    "has_room",
    "history_of",
    "record",
    "refused",
    "shown",
    "shown_in",
    "turned_away",
]
