"""What replies take, counted to their turns."""

from __future__ import annotations

from envelopes import metrics
from envelopes.costs import cost_of, taken
from envelopes.models import Turn
from envelopes.protocol.rows import ProviderData
from envelopes.types import JsonObject


def charge(turn: Turn, usage: JsonObject) -> ProviderData:
    """Count what a reply took to its turn; returns what the log has of it beside ``usage``."""
    turn.tokens += taken(usage).total
    cost = cost_of(turn.model, usage)
    metrics.replied(turn.model, usage, cost)
    if cost is None:
        return {"model": turn.model}
    turn.cost += cost
    return {"model": turn.model, "cost": round(cost, 6)}
