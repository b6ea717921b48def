"""What the ledger says of a row."""

from __future__ import annotations

from django.utils import timezone

from envelopes.protocol.rows import Row
from envelopes.transports.live import ledger


def test_why_a_turn_failed_is_told_to_staff_alone() -> None:
    problem = {"code": "PROVIDER_FAILED", "message": "connect: 10.0.0.7:443 refused"}
    end = {"turnState": "error", "finalizedBy": "error", "delegatedFrom": 1}
    row = Row(7, "settled", timezone.now(), {**end, "problem": problem, "llmContext": "failed"}, turn=2)
    told = ledger.event(row, frozenset({"row:settled"}))
    assert told is not None
    assert told["data"] == end
