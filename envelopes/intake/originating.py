"""Who begins a turn, as the turn keeps them."""

from __future__ import annotations

from envelopes.access import Principal
from envelopes.errors import Forbidden
from envelopes.protocol.originators import Originator
from envelopes.turns.day_costs import origin_of


def originator(who: Principal) -> Originator:
    """``who`` as a turn keeps them, with what they consume by now. Raises ``Forbidden`` for nobody."""
    if who.kind is None:
        raise Forbidden("Nobody is signed in who could begin a turn.")
    found: Originator = {"principal": who.key, "kind": who.kind, "consumes": sorted(who.consumes)}
    if who.kind == "guest" and (origin := origin_of(who.address)):
        found["origin"] = origin
    return found
