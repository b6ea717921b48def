"""What the live channel knows of a session beside its log: the contract that holds, what a client has told of its
surroundings, and the session as an ack shows it. In a thread."""

from __future__ import annotations

from collections.abc import Mapping

from envelopes.errors import ValidationFailed
from envelopes.models import LiveChannel, Session
from envelopes.protocol.time import instant
from envelopes.registries.actors import actors
from envelopes.transports.live.contracts import Contract, ContractViolation, Violation, contract_of
from envelopes.turns.channels import keep_contract
from envelopes.types import Json, JsonObject

SPECS = ("propsSpec", "actionSpec", "streamSpec", "contextSpec")
"""The parts of a contract that a client is shown."""


def contract_for(session: Session) -> Contract | None:
    """The contract of ``session``: what was declared for it, else what its actor has; None for none."""
    found = LiveChannel.objects.filter(session=session).values_list("contract", flat=True).first()
    if found is None:
        actor = actors.get(session.actor)
        found = dict(actor.contract) if actor is not None and actor.contract is not None else None
    return contract_of(found) if found is not None else None


def declare(session_id: str, contract: Mapping[str, Json] | None) -> None:
    """Let ``contract`` hold for the conversation with this public id; None for that of its actor. Its channels begin
    anew. Raises ``ContractRefused`` with all that is wrong with it, ``TooLarge``, and ``NotFound``: then the one of
    before still holds. In a thread."""
    document = None if contract is None else contract_of(dict(contract)).document
    keep_contract(session_id, document)


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
    Conversations do not expire."""
    now = Session.objects.filter(pk=session.pk).values_list("updated_at", flat=True).first()
    kept = LiveChannel.objects.filter(session=session).first()
    contract = contract_for(session)
    made: JsonObject = {
        "id": session.public_id,
        "appId": session.actor,
        "userId": key,
        "eventSequence": row,
        "createdAt": instant(session.created_at),
        "lastActivityAt": instant(now or session.updated_at),
        "expiresAt": None,
        "status": "active",
        "surfaces": channels,
    }
    if contract is not None:
        made |= {name: contract.document[name] for name in SPECS if name in contract.document}
    if kept is not None and kept.host_context is not None:
        made["hostContext"] = kept.host_context
    return made
