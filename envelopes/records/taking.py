"""A conversation as a file: its whole log, turns, calls and approvals, and its files where they are asked for."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import QuerySet

from envelopes import artifacts
from envelopes.errors import NotFound
from envelopes.models import Approval, Artifact, Event, Session, ToolCall, Turn
from envelopes.records.lines import FORMAT, PIECE_BYTES, elsewhere, moment, unnamed
from envelopes.types import JsonObject

AT_ONCE = 200

_GONE = "The conversation was erased while it was exported."


def exported(session: Session, *, files: bool = False) -> Iterator[str]:
    """The lines of the file, with their ends. Rows that are appended meanwhile are left out: the log ends where it
    stood when this began.

    Raises ``NotFound`` where the conversation is erased before its end: then there is no last line.
    """
    digest, count = hashlib.sha256(), 0
    for one in _lines(session, files=files):
        text = json.dumps(one, ensure_ascii=False) + "\n"
        digest.update(text.encode())
        count += 1
        yield text
    if not Session.objects.filter(pk=session.pk).exists():
        raise NotFound(_GONE)
    yield json.dumps({"kind": "end", "lines": count, "sha256": digest.hexdigest()}) + "\n"


def _lines(session: Session, *, files: bool) -> Iterator[JsonObject]:
    found = Session.objects.filter(pk=session.pk).first()
    if found is None:
        raise NotFound(_GONE)
    session = found
    yield {
        "kind": "conversation",
        "format": FORMAT,
        "id": session.public_id,
        "actor": session.actor,
        "title": session.title,
        "locale": session.locale,
        "timezone": session.timezone,
        "heldBy": session.held_by,
        "events": session.last_seq,
        "turns": session.turn_count,
        "createdAt": moment(session.created_at),
    }
    for participant in session.participants.order_by("pk"):
        yield {"kind": "participant", "role": participant.role, "name": participant.name}
    numbers = dict(session.turns.values_list("pk", "number"))
    for turn in _paged(Turn.objects.filter(session=session)):
        if turn.number <= session.turn_count:
            yield _turn(turn, numbers)
    last = 0
    for call in _paged(ToolCall.objects.filter(session=session, turn__number__lte=session.turn_count)):
        yield _call(call, numbers)
        last = call.pk
    asked = Approval.objects.filter(session=session, tool_call__lte=last)
    for approval in _paged(asked.filter(turn__number__lte=session.turn_count).select_related("tool_call")):
        yield _approval(approval, numbers)
        yield from _versions(approval)
    for value in session.state_values.order_by("name"):
        yield {"kind": "state", "name": value.name, "value": value.value, "seq": value.seq}
    for event in _events(session):
        yield {
            "kind": "event",
            "seq": event.seq,
            "event": event.kind,
            "partType": event.part_type,
            "audience": event.audience,
            "actor": elsewhere(event.actor),
            "turn": event.turn,
            "data": unnamed(event.data),
            "at": moment(event.at),
        }
    for file in _paged(Artifact.objects.filter(session=session, is_whole=True)) if files else ():
        yield from _file(file)


def _turn(turn: Turn, numbers: dict[int, int]) -> JsonObject:
    return {
        "kind": "turn",
        "id": turn.public_id,
        "number": turn.number,
        "actor": turn.actor,
        "status": turn.status,
        "turnState": turn.turn_state,
        "finalizedBy": turn.finalized_by,
        "trigger": unnamed(turn.trigger),
        "triggerSeq": turn.trigger_seq,
        "originators": unnamed(turn.originators),
        "messages": unnamed(turn.messages),
        "model": turn.model,
        "results": unnamed(turn.results),
        "steps": turn.steps,
        "passedTo": numbers.get(turn.passed_to_id or 0, 0),
        "delegatedFrom": numbers.get(turn.delegated_from_id or 0, 0),
        "joined": numbers.get(turn.joined_id or 0, 0),
        "createdAt": moment(turn.created_at),
        "settledAt": moment(turn.settled_at),
    }


def _call(call: ToolCall, numbers: dict[int, int]) -> JsonObject:
    return {
        "kind": "call",
        "turn": numbers[call.turn_id],
        "callId": call.call_id,
        "position": call.position,
        "name": call.name,
        # As they ran: the digest is that of these.
        "args": call.args,
        "digest": call.digest,
        "state": call.state,
        "background": call.background,
        "result": unnamed(call.result),
        "error": unnamed(call.error),
        "createdAt": moment(call.created_at),
        "finishedAt": moment(call.finished_at),
    }


def _approval(approval: Approval, numbers: dict[int, int]) -> JsonObject:
    return {
        "kind": "approval",
        "id": approval.approval_id,
        "turn": numbers[approval.turn_id],
        "callId": approval.tool_call.call_id,
        "toolName": approval.tool_name,
        "args": approval.args,
        "handler": approval.handler,
        "digest": approval.digest,
        "risk": approval.risk,
        "question": approval.question,
        "why": approval.why,
        "attempt": approval.attempt,
        "version": approval.version,
        "rule": unnamed(approval.rule),
        "state": approval.state,
        "requestedAt": moment(approval.requested_at),
        "expiresAt": moment(approval.expires_at),
        "decidedAt": moment(approval.decided_at),
        "decidedBy": elsewhere(approval.decided_by),
        "reason": approval.reason,
        "source": approval.source,
    }


def _versions(approval: Approval) -> Iterator[JsonObject]:
    """What it was before, and who has decided what of each."""
    for version in approval.earlier.order_by("version"):
        yield {
            "kind": "version",
            "id": version.asked_as,
            "approval": approval.approval_id,
            "version": version.version,
            "args": version.args,
            "digest": version.digest,
            "question": version.question,
            "why": version.why,
            "rule": unnamed(version.rule),
            "attempt": version.attempt,
            "requestedAt": moment(version.requested_at),
            "expiresAt": moment(version.expires_at),
            "cause": version.cause,
            "replacedAt": moment(version.replaced_at),
            "by": elsewhere(version.by),
            "name": version.name,
        }
    for decision in approval.decisions.order_by("at", "pk"):
        yield {
            "kind": "decision",
            "approval": approval.approval_id,
            "version": decision.version,
            "decision": decision.decision,
            "by": elsewhere(decision.by),
            "name": decision.name,
            "role": decision.role,
            "source": decision.source,
            "reason": decision.reason,
            "digest": decision.digest,
            "at": moment(decision.at),
        }


def _file(file: Artifact) -> Iterator[JsonObject]:
    yield {
        "kind": "file",
        "id": file.artifact_id,
        "owner": elsewhere(file.owner),
        "name": file.name,
        "mimeType": file.mime_type,
        "sizeBytes": file.size_bytes,
        "sha256": file.sha256,
    }
    _, _, content = artifacts.read(file.session_id, file.artifact_id)
    for begin in range(0, len(content), PIECE_BYTES):
        piece = base64.b64encode(content[begin : begin + PIECE_BYTES]).decode()
        yield {"kind": "bytes", "file": file.artifact_id, "base64": piece}


def _paged(rows: QuerySet[Any]) -> Iterable[Any]:
    after = 0
    while True:
        found = list(rows.order_by("pk").filter(pk__gt=after)[:AT_ONCE])
        yield from found
        if len(found) < AT_ONCE:
            return
        after = found[-1].pk


def _events(session: Session) -> Iterator[Event]:
    after = 0
    while after < session.last_seq:
        found = list(
            Event.objects.filter(session=session, seq__gt=after, seq__lte=session.last_seq).order_by("seq")[
                :AT_ONCE
            ]
        )
        if not found:
            return
        yield from found
        after = found[-1].seq
