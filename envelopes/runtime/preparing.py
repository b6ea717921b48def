"""Between deciding that a turn is over and settling it: what others are asked for, outside of any transaction."""

from __future__ import annotations

from envelopes.models import Turn
from envelopes.part_types.llm_context import LLM_CONTEXT
from envelopes.turns.deciding import AfterReply, Prepared


def asks_others(turn: Turn) -> bool:
    """Whether somebody may have to be asked for the end of ``turn``: then its last block is not stored with its end."""
    return any(LLM_CONTEXT.name in originator["consumes"] for originator in turn.originators)


async def prepare(following: AfterReply) -> Prepared:
    """What the end of a turn needs from others; for whatever is not its end, nothing.

    Nobody has to be asked yet: this is where a translator is, once an originator consumes ``llm-context`` (envelope
    document, "The canonical three").
    """
    return Prepared()
