"""What replies take, counted to their turns."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes import metrics
from envelopes.conf import conf
from envelopes.costs import cost_of, taken
from envelopes.models import Turn
from envelopes.protocol.rows import ProviderData
from envelopes.turns.day_costs import day_costs
from envelopes.types import JsonObject


@dataclass(frozen=True)
class Unfinished:
    """What ``model`` took, by an estimate, for a reply that did not come to its end."""

    model: str
    usage: JsonObject


@dataclass(frozen=True)
class Asked:
    """What a second model took for ``purpose``, beside the replies of a turn."""

    model: str
    usage: JsonObject
    purpose: str
    estimated: bool


def charge_asked(turn: Turn, asked: Asked) -> ProviderData:
    """``charge`` for one; returns all that the log has of it."""
    told: ProviderData = {"usage": asked.usage, "purpose": asked.purpose}
    if asked.estimated:
        told["estimated"] = True
    return {**told, **charge(turn, asked.usage, model=asked.model)}


def has_reached(turn: Turn, usage: JsonObject) -> bool:
    """Whether a limit on tokens or cost is reached, ``usage`` of the turn's last reply included, which is not charged
    yet: nobody else is asked then."""
    day_costs.look()
    tokens = turn.tokens + taken(usage).total
    cost = turn.cost + (cost_of(turn.model, usage) or 0.0)
    bounds = ((conf.BEACH_TURN_TOKENS, tokens), (conf.BEACH_TURN_COST, cost))
    is_over = any(0 < bound <= spent for bound, spent in bounds)
    return is_over or day_costs.reached(turn.originators, turn.session.timezone) is not None


def charge_unfinished(turn: Turn, unfinished: Unfinished) -> ProviderData:
    """``charge`` for one; returns all that the log has of it. What was done of a reply is in ``turn``, and perhaps
    nothing was, not even the name of its model."""
    turn.model = turn.model or unfinished.model
    usage = unfinished.usage
    return {"usage": usage, "step": turn.steps + 1, "estimated": True, **charge(turn, usage)}


def charge(turn: Turn, usage: JsonObject, *, model: str = "") -> ProviderData:
    """Count what a reply took to its turn; returns what the log has of it beside ``usage``. ``model`` is whose reply it
    is; "" for the turn's own."""
    model = model or turn.model
    turn.tokens += taken(usage).total
    cost = cost_of(model, usage)
    metrics.replied(model, usage, cost)
    if cost is None:
        return {"model": model}
    turn.cost += cost
    return {"model": model, "cost": round(cost, 6)}
