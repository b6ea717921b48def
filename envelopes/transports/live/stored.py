"""What the live channel knows of a session beside its log: the contract that holds, what a client has told of its
surroundings, and the session as an ack shows it. In a thread."""

from __future__ import annotations

import logging

from envelopes.errors import TooLarge, ValidationFailed
from envelopes.models import LiveChannel, Session
from envelopes.protocol.time import instant
from envelopes.registries.actors import actors
from envelopes.transports.live.contracts import (
    Contract,
    ContractRefused,
    ContractViolation,
    Violation,
    contract_of,
    merged,
)
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

SPECS = ("propsSpec", "actionSpec", "streamSpec", "contextSpec")
"""The parts of a contract that a client is shown."""


def contract_for(session: Session) -> Contract | None:
    """The contract of ``session``: what was declared for it, else what its actor has, with what was declared for single
    surfaces; None for none."""
    kept = LiveChannel.objects.filter(session=session).first()
    found = of_session(session, kept)
    if kept is None or not kept.surfaces:
        return contract_of(found) if found is not None else None
    try:
        return joined(found, kept)
    except (ContractRefused, TooLarge) as error:
        # Its actor's has been changed since they were declared.
        logger.warning("What surfaces of session %s declare does not hold: %s", session.pk, error.message)
        return contract_of(found) if found is not None else None


def of_session(session: Session, kept: LiveChannel | None) -> JsonObject | None:
    """The document that holds for the session as a whole."""
    if kept is not None and kept.contract is not None:
        return dict(kept.contract)
    actor = actors.get(session.actor)
    return dict(actor.contract) if actor is not None and actor.contract is not None else None


def joined(document: JsonObject | None, kept: LiveChannel) -> Contract:
    """``document`` and those of the surfaces, as one. Raises ``ContractRefused``, ``TooLarge``."""
    documents = [one["contract"] for one in kept.surfaces]
    made, faults = merged(documents if document is None else [document, *documents])
    if faults:
        raise ContractRefused(faults)
    return contract_of(made)


def delivery(session: Session, channel: str, data: Json, complete: bool) -> JsonObject:
    """How data travels that the agent sends to ``channel`` (reading, 5.1); see ``turns.channels.Check``."""
    contract = contract_for(session)
    declared = contract.channel(channel) if contract is not None else None
    faults = (
        contract.delivery_violations(channel, data) if contract is not None and declared is not None else []
    )
    if contract is None or declared is None:
        names = ", ".join(contract.channels or ()) if contract is not None else ""
        message = f"The channel {channel[:120]!r} is not declared. Declared: {names or '(none)'}."
        raise ValidationFailed(message, problems=[Violation("channel", message).as_json()])
    if faults:
        error = ContractViolation("ggui_emit", faults)
        raise ValidationFailed(error.message, problems=[fault.as_json() for fault in error.violations])
    if complete and not declared.completable:
        raise ValidationFailed(f"The channel {channel!r} cannot be completed: its contract does not say so.")
    kept = LiveChannel.objects.filter(session=session).first()
    if kept is not None and channel in kept.completed:
        raise ValidationFailed(f"The channel {channel!r} is complete: nothing follows.")
    made: JsonObject = {"channel": channel, "mode": declared.mode, "replay": declared.replay}
    if complete:
        done = [*(kept.completed if kept is not None else ()), channel]
        LiveChannel.objects.update_or_create(session=session, defaults={"completed": done})
        made["complete"] = True
    return made


def replayable(session: Session) -> frozenset[str]:
    """The agent's own channels that are replayed by now."""
    contract = contract_for(session)
    channels = contract.channels if contract is not None else None
    return frozenset(name for name, channel in (channels or {}).items() if channel.replay != "none")


def observe(session: Session, host_context: JsonObject) -> None:
    """The surroundings of a client, in place of what was told before."""
    LiveChannel.objects.update_or_create(session=session, defaults={"host_context": host_context})


def snapshot(session: Session, key: str, row: int, channels: list[JsonObject]) -> JsonObject:
    """The GguiSession of an ack or a render (reading, 1.6), for whoever ``key`` names: how things stand at row ``row``.
    What is declared for one of ``channels`` stands there too, as it is of the whole. Conversations do not expire."""
    session.refresh_from_db(fields=["updated_at"])
    kept = LiveChannel.objects.filter(session=session).first()
    contract = contract_for(session)
    made: JsonObject = {
        "id": session.public_id,
        "appId": session.actor,
        "userId": key,
        "eventSequence": row,
        "createdAt": instant(session.created_at),
        "lastActivityAt": instant(session.updated_at),
        "expiresAt": None,
        "status": "active",
        "surfaces": _with_contracts(channels, kept),
    }
    if contract is not None:
        made |= _specs(contract.document)
    if kept is not None and kept.host_context is not None:
        made["hostContext"] = kept.host_context
    return made


def _specs(document: JsonObject) -> JsonObject:
    return {name: document[name] for name in SPECS if name in document}


def _with_contracts(channels: list[JsonObject], kept: LiveChannel | None) -> list[JsonObject]:
    declared = {
        (one["owner"], one["surfaceId"]): _specs(one["contract"])
        for one in (kept.surfaces if kept is not None else ())
    }
    return [
        {key: value for key, value in one.items() if key not in SPECS}
        | declared.get((one["owner"], one["surfaceId"]), {})
        for one in channels
    ]
