"""Storing a conversation that was read from a file: under a new id, and inert."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import datetime
from typing import Any

from django.db import transaction

from envelopes import artifacts, audit
from envelopes.artifacts import Chunk, Stored
from envelopes.errors import BeachError, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.models import (
    Approval,
    ApprovalVersion,
    Artifact,
    Decision,
    Event,
    Participant,
    Session,
    StateValue,
    ToolCall,
    Turn,
    WebhookCursor,
    WebhookSubscription,
)
from envelopes.models.audit import AuditKind
from envelopes.records.lines import ApprovalLine, CallLine, EventLine, FileLine, TurnLine, elsewhere, unnamed
from envelopes.records.reading import Read, read
from envelopes.registries.doors import POLICY
from envelopes.registries.statuses import ApprovalStatus, CallStatus, TurnStatus
from envelopes.registries.transports import transports
from envelopes.session_state import live_sessions
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

BY = "policy:import"
NOT_RUN: JsonObject = {"code": "imported", "message": "The conversation was imported before this had ended."}

_CALLS = {
    CallStatus.REQUESTED: CallStatus.FAILED,
    CallStatus.AWAITING_APPROVAL: CallStatus.DENIED,
    CallStatus.APPROVED: CallStatus.FAILED,
    CallStatus.RUNNING: CallStatus.FAILED,
    CallStatus.UNKNOWN: CallStatus.FAILED,
}
"""How calls that had not ended are stored: none of them is to be run or resolved here."""


def imported(source: Iterable[bytes], *, owner: Any = None) -> Session:
    """Store the conversation that ``source`` holds, line by line; of the user ``owner``, or of nobody: then staff alone
    see it.

    Nothing runs because of it: what was at work is stopped, open questions have expired. Nobody is told by webhooks.
    Raises ``ValidationFailed`` for a file that no export writes, for one that cannot be shown, and ``TooLarge`` for
    files of it that are; nothing is stored then.
    """
    found = read(source)
    for file in found.files:
        artifacts.check_size(file.sizeBytes)
    with ExitStack() as kept:
        there = {
            file.id: kept.enter_context(artifacts.stored(found.conversation.id, found.contents[file.id]))
            for file in found.files
        }
        with transaction.atomic():
            session = _store(found, owner, there)
            _try(session)
    live_sessions.forget(session.pk)
    return session


def _store(found: Read, owner: Any, there: dict[str, Stored]) -> Session:
    head = found.conversation
    session = Session.objects.create(
        public_id=head.id,
        actor=head.actor,
        title=head.title,
        locale=head.locale,
        timezone=head.timezone,
        held_by=head.heldBy,
        last_seq=head.events,
        turn_count=head.turns,
    )
    Session.objects.filter(pk=session.pk).update(created_at=head.createdAt)
    Participant.objects.bulk_create(
        Participant(
            session=session,
            role=one.role,
            name=one.name,
            user=owner if one.role == "owner" else None,
        )
        for one in found.participants
    )
    Event.objects.bulk_create(
        (
            Event(
                session=session, seq=one.seq, kind=one.event, part_type=one.partType, audience=one.audience,
                actor=elsewhere(one.actor), turn=one.turn, data=_data(one), at=one.at,
            )
            for one in found.events
        ),
        batch_size=500,
    )  # fmt: skip
    for file in found.files:
        _store_file(session, file, there[file.id])
    StateValue.objects.bulk_create(
        StateValue(session=session, name=one.name, value=one.value, seq=one.seq) for one in found.states
    )
    with writing(session.pk) as writer:
        turns = _store_turns(writer, found.turns)
        calls = {
            (call.turn, call.callId): _store_call(writer, turns[call.turn], call) for call in found.calls
        }
        asked = {
            one.id: _store_approval(writer, turns[one.turn], calls[one.turn, one.callId], one)
            for one in found.approvals
        }
        _store_about(asked, found)
        for line in found.turns:
            if line.status != TurnStatus.SETTLED:
                end = {"turnState": "error", "finalizedBy": "cancelled"}
                writer.add("settled", dict(end), turn=turns[line.number])
    session.refresh_from_db()
    # Webhooks begin behind what is there by now.
    WebhookCursor.objects.bulk_create(
        WebhookCursor(subscription=subscription, session=session, seq=session.last_seq)
        for subscription in WebhookSubscription.objects.all()
    )
    return session


def _data(line: EventLine) -> JsonObject:
    """What a row holds here. What a reply cost was paid there: it counts for no bound of today."""
    data: Any = unnamed(line.data)
    if line.event == "provider" and "cost" in data:
        data["costElsewhere"] = data.pop("cost")
    return dict(data)


def _store_turns(writer: Writer, lines: list[TurnLine]) -> dict[int, Turn]:
    turns = {
        line.number: Turn(
            session=writer.session,
            public_id=line.id,
            number=line.number,
            actor=line.actor,
            status=TurnStatus.SETTLED,
            turn_state=line.turnState if line.status == TurnStatus.SETTLED else "error",
            finalized_by=line.finalizedBy if line.status == TurnStatus.SETTLED else "cancelled",
            trigger=unnamed(line.trigger),
            trigger_seq=line.triggerSeq,
            originators=unnamed(line.originators),
            messages=unnamed(line.messages),
            model=line.model,
            results=unnamed(line.results),
            steps=line.steps,
            settled_at=line.settledAt or writer.now,
        )
        for line in sorted(lines, key=lambda line: line.number)
    }
    Turn.objects.bulk_create(turns.values(), batch_size=200)
    for line in lines:
        turn = turns[line.number]
        turn.created_at = line.createdAt
        turn.passed_to = turns.get(line.passedTo)
        turn.delegated_from = turns.get(line.delegatedFrom)
        turn.joined = turns.get(line.joined)
    Turn.objects.bulk_update(
        turns.values(), ["created_at", "passed_to", "delegated_from", "joined"], batch_size=200
    )
    return turns


def _store_call(writer: Writer, turn: Turn, line: CallLine) -> ToolCall:
    state = _CALLS.get(CallStatus(line.state), line.state)
    call = ToolCall.objects.create(
        session=writer.session,
        turn=turn,
        call_id=line.callId,
        position=line.position,
        name=line.name,
        args=line.args,
        digest=line.digest,
        state=state,
        background=line.background,
        result=unnamed(line.result),
        error=unnamed(line.error) if state == line.state else NOT_RUN,
        finished_at=line.finishedAt if state == line.state else writer.now,
    )
    _date(ToolCall, call.pk, line.createdAt)
    return call


def _store_approval(writer: Writer, turn: Turn, call: ToolCall, line: ApprovalLine) -> Approval:
    is_open = line.state == ApprovalStatus.PENDING
    approval = Approval.objects.create(
        approval_id=line.id,
        tool_call=call,
        session=writer.session,
        turn=turn,
        tool_name=line.toolName,
        args=line.args,
        handler=line.handler,
        expires_at=line.expiresAt,
        digest=line.digest,
        risk=line.risk,
        question=line.question,
        why=line.why,
        attempt=line.attempt,
        version=line.version,
        rule=unnamed(line.rule),
        state=ApprovalStatus.EXPIRED if is_open else line.state,
        requested_at=line.requestedAt,
        decided_at=writer.now if is_open else line.decidedAt,
        decided_by=BY if is_open else elsewhere(line.decidedBy),
        reason="imported" if is_open else line.reason,
        source=POLICY.name if is_open else line.source,
    )
    if is_open:
        audit.record(writer, AuditKind.WITHDRAWN, approval, by=BY, role=audit.RULE, door=POLICY.name)
    return approval


def _store_about(asked: dict[str, Approval], found: Read) -> None:
    ApprovalVersion.objects.bulk_create(
        ApprovalVersion(
            approval=asked[one.approval], version=one.version, asked_as=one.id, args=one.args, digest=one.digest,
            question=one.question, why=one.why, rule=unnamed(one.rule), attempt=one.attempt,
            requested_at=one.requestedAt, expires_at=one.expiresAt, cause=one.cause, replaced_at=one.replacedAt,
            by=elsewhere(one.by), name=one.name,
        )
        for one in found.versions
    )  # fmt: skip
    Decision.objects.bulk_create(
        Decision(
            approval=asked[one.approval], version=one.version, decision=one.decision, by=elsewhere(one.by),
            name=one.name, role=one.role, source=one.source, reason=one.reason, digest=one.digest, at=one.at,
        )
        for one in found.decisions
    )  # fmt: skip


def _store_file(session: Session, file: FileLine, there: Stored) -> None:
    """As any file: its type is what its bytes are, not what the line says."""
    part = artifacts.begin(
        session, elsewhere(file.owner), Chunk(file.name, file.mimeType, last_chunk=True), there
    )
    Artifact.objects.filter(artifact_id=part["data"]["artifactId"]).update(artifact_id=file.id)


def _date(model: type[ToolCall], pk: int, at: datetime) -> None:
    """A time that Django sets by itself when it stores a row."""
    model.objects.filter(pk=pk).update(created_at=at)


def _try(session: Session) -> None:
    """Draw it once for every transport. Raises ``ValidationFailed`` where that fails: its rows fit their shapes, but
    nothing of ours wrote them."""
    try:
        for transport in transports:
            if transport.presenter is not None:
                with live_sessions.present(session, transport.name):
                    pass
    except BeachError:
        raise
    except Exception as error:
        logger.info("An imported conversation cannot be shown.", exc_info=True)
        raise ValidationFailed("This conversation cannot be shown: its rows do not go together.") from error
    finally:
        live_sessions.forget(session.pk)
