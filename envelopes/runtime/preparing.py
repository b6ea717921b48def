"""Between deciding that a turn is over and settling it: what others are asked for, outside of any transaction."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.delivery import partial_envelope_for
from envelopes.delivery.rules import Reader
from envelopes.models import Turn
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.part_types.llm_context import LLM_CONTEXT
from envelopes.protocol.parts import Metadata, Part
from envelopes.providers.port import Provider
from envelopes.registries.actors import Actor
from envelopes.registries.turn_states import emits_envelope
from envelopes.runtime.translating import Asking, material_of, translate
from envelopes.turns.deciding import AfterReply, Prepared, Settle
from envelopes.turns.spending import has_reached
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)


async def prepare(
    turn: Turn, actor: Actor, following: AfterReply, usage: JsonObject, stop: asyncio.Event
) -> Prepared:
    """What the end of a turn, whose originators consume ``llm-context``, needs from others; for whatever is no end with
    an envelope, nothing. What it gives is stored with the end, in the log, and nobody is asked again.

    ``usage`` is what the reply that ends it took. ``stop`` is set when the person stops the turn: they have its answer,
    and nobody has to be waited for.
    """
    if not isinstance(following, Settle) or not emits_envelope(following.turn_state):
        return Prepared()
    asking = Asking(LLM_CONTEXT.name)
    try:
        prepared = await _explained(turn, actor, usage, asking)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not stop.is_set() or task is None:
            raise
        task.uncancel()
        prepared = Prepared(context="stopped")
    return replace(prepared, asked=asking.asked())


async def _explained(turn: Turn, actor: Actor, usage: JsonObject, asking: Asking) -> Prepared:
    """What the answer means, for the models of those who asked: made here unless the actor has said it."""
    provider = _translator(actor)
    parts = await in_session(turn.session_id, _said, turn)
    if any(part["metadata"]["partType"] == LLM_CONTEXT.name for part in parts):
        return Prepared(context="actor")
    if provider is None:
        return Prepared(context="no-model")
    material = material_of(parts, DOMAIN_DATA.name)
    if not material.words and not material.data:
        return Prepared(context="nothing-said")
    if await in_session(turn.session_id, has_reached, turn, usage):
        return Prepared(context="limit")
    told = await translate(
        provider,
        material,
        asking,
        seconds=conf.BEACH_CONTEXT_SECONDS,
        actor=actor.name,
        session_id=turn.session.public_id,
        turn_id=turn.public_id,
    )
    if told.why:
        return Prepared(context=told.why)
    part = Part(text=told.text, metadata=Metadata(partType=LLM_CONTEXT.name))
    return Prepared([part], context="made")


def _translator(actor: Actor) -> Provider | None:
    try:
        return actor.translator() if actor.translator is not None else None
    except Exception:
        logger.exception("The translator of %s could not be made.", actor.name)
        return None


def _said(turn: Turn) -> list[JsonObject]:
    """The parts of the answer so far, as one who consumes ``llm-context`` gets them."""
    reader = Reader("peer", consumes=frozenset({LLM_CONTEXT.name}))
    parts: list[JsonObject] = partial_envelope_for(turn, reader)["parts"]
    return parts
