"""Who begins a turn, as the turn keeps them."""

from __future__ import annotations

from envelopes.access import Principal
from envelopes.errors import Forbidden
from envelopes.protocol.originators import Originator


def originator(who: Principal) -> Originator:
    """``who`` as a turn keeps them, with what they consume by now. Raises ``Forbidden`` for nobody."""
    if who.kind is None:
        raise Forbidden("Nobody is signed in who could begin a turn.")
    return {"principal": who.key, "kind": who.kind, "consumes": sorted(who.consumes)}
