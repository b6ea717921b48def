"""What the live channel knows of a session beside its log: the contract that holds, what a client has told of its
surroundings, and the session as an ack shows it. In a thread."""

from __future__ import annotations

from collections.abc import Mapping

from envelopes.access import Principal
from envelopes.models import LiveChannel, Session
from envelopes.protocol.time import instant
from envelopes.registries.actors import actors
from envelopes.transports.live.contracts import Contract, contract_of
from envelopes.types import Json, JsonObject


def contract_for(session: Session) -> Contract | None:
    """The contract of ``session``: what was declared for it, else what its actor has; None for none."""
    found = LiveChannel.objects.filter(session=session).values_list("contract", flat=True).first()
    if found is None:
        actor = actors.get(session.actor)
        found = dict(actor.contract) if actor is not None and actor.contract is not None else None
    return contract_of(found) if found is not None else None


def declare(session: Session, contract: Mapping[str, Json] | None) -> None:
    """Let ``contract`` hold for ``session``; None for that of its actor. Raises ``ContractRefused`` with all that is
    wrong with it, and ``TooLarge``: then the one of before still holds."""
    document = None if contract is None else contract_of(dict(contract)).document
    LiveChannel.objects.update_or_create(session=session, defaults={"contract": document})


def observe(session: Session, host_context: JsonObject) -> None:
    """The surroundings of a client, in place of what was told before."""
    LiveChannel.objects.update_or_create(session=session, defaults={"host_context": host_context})


def snapshot(session: Session, who: Principal, row: int, channels: list[JsonObject]) -> JsonObject:
    """The GguiSession of an ack (reading, 1.6): how things stand at row ``row``. Conversations do not expire."""
    kept = LiveChannel.objects.filter(session=session).first()
    contract = contract_for(session)
    made: JsonObject = {
        "id": session.public_id,
        "appId": session.actor,
        "userId": who.key,
        "eventSequence": row,
        "createdAt": instant(session.created_at),
        "lastActivityAt": instant(session.updated_at),
        "expiresAt": None,
        "status": "active",
        "surfaces": channels,
    }
    if contract is not None:
        made |= {
            name: contract.document[name]
            for name in ("propsSpec", "actionSpec", "streamSpec", "contextSpec")
            if name in contract.document
        }
    if kept is not None and kept.host_context is not None:
        made["hostContext"] = kept.host_context
    return made
