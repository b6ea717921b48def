"""What replies take, counted to their turns."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes import metrics
from envelopes.costs import cost_of, taken
from envelopes.models import Turn
from envelopes.protocol.rows import ProviderData
from envelopes.types import JsonObject


@dataclass(frozen=True)
class Unfinished:
    """What ``model`` took, by an estimate, for a reply that did not come to its end."""

    model: str
    usage: JsonObject


def charge_unfinished(turn: Turn, unfinished: Unfinished) -> ProviderData:
    """``charge`` for one; returns all that the log has of it. What was done of a reply is in ``turn``, and perhaps
    nothing was, not even the name of its model."""
    turn.model = turn.model or unfinished.model
    usage = unfinished.usage
    return {"usage": usage, "step": turn.steps + 1, "estimated": True, **charge(turn, usage)}


def charge(turn: Turn, usage: JsonObject) -> ProviderData:
    """Count what a reply took to its turn; returns what the log has of it beside ``usage``."""
    turn.tokens += taken(usage).total
    cost = cost_of(turn.model, usage)
    metrics.replied(turn.model, usage, cost)
    if cost is None:
        return {"model": turn.model}
    turn.cost += cost
    return {"model": turn.model, "cost": round(cost, 6)}
