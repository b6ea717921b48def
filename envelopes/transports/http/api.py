"""The operations: begin, say, ask."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Status
from ninja.params.functions import Header
from pydantic import ValidationError

from a2ui import ComponentTarget
from envelopes.access import begin_session, get_session
from envelopes.approvals.surface import approval_of
from envelopes.database_threads import beside_sessions, in_session, later_in_session, read_beside_sessions
from envelopes.delivery import envelope_for, partial_envelope_for
from envelopes.errors import NotFound, ValidationFailed
from envelopes.intake import post_action, post_decision, post_message
from envelopes.models import Event, Session, Turn
from envelopes.protocol.locales import is_language_tag
from envelopes.protocol.parts import from_pydantic
from envelopes.protocol.surfaces import RUNTIME, is_reserved
from envelopes.protocol.zones import known_zone
from envelopes.registries.actors import actors, default_actor
from envelopes.registries.part_types import part_types
from envelopes.registries.statuses import TurnStatus
from envelopes.transports.api import Caller, Problem, caller_of
from envelopes.transports.http.shapes import (
    Decision,
    Effect,
    Envelope,
    NewAction,
    NewMessage,
    NewSession,
    Pending,
    SessionMade,
)
from envelopes.transports.http.transport import DOOR, HTTP
from envelopes.transports.http.waiting import declared_in, find, patience, paused, standing

router = Router(tags=["http"])

KEY = Header(
    "",
    alias="Idempotency-Key",
    max_length=64,
    description="A name of the caller's own for this request: the same one again has no effect of its own, and gets "
    "the same answer.",
)
PREFER = Header(
    "",
    alias="Prefer",
    max_length=200,
    description="`respond-async` answers at once; `wait=10` after ten seconds at the latest (RFC 7240).",
)
REFUSALS = {400: Problem, 401: Problem, 403: Problem, 404: Problem, 409: Problem, 429: Problem, 503: Problem}


@router.post(
    "/sessions", response={200: SessionMade, 201: SessionMade, **REFUSALS}, operation_id="beginSession"
)
async def begin(request: HttpRequest, body: NewSession, key: Annotated[str, KEY] = "") -> Any:
    """Begin a conversation. 200 for a repeat, 201 for a new one."""
    caller = caller_of(request)
    caller.needs("chat")
    return await beside_sessions(_begun, caller, body, key)


def _begun(caller: Caller, body: NewSession, key: str) -> Any:
    if body.actor and body.actor not in actors:
        raise ValidationFailed(
            f"There is no actor {body.actor!r}.", path="/actor", allowed=sorted(actors.names())
        )
    if not is_language_tag(body.locale):
        raise ValidationFailed(f"{body.locale!r} is no BCP 47 tag.", path="/locale")
    if known_zone(body.timezone) is None:
        raise ValidationFailed(f"There is no time zone {body.timezone!r}.", path="/timezone")
    session, made = begin_session(
        caller.who,
        body.actor or default_actor().name,
        # Of this caller alone: nobody else's key is theirs, however easy it is to guess.
        f"{caller.who.key}:{key or secrets.token_urlsafe(32)}",
        locale=body.locale,
        timezone=body.timezone,
    )
    return Status(201 if made else 200, {"id": session.public_id})


@router.post(
    "/sessions/{session_id}/messages",
    response={200: Envelope, 202: Pending, 410: Problem, 413: Problem, **REFUSALS},
    operation_id="say",
)
async def say(
    request: HttpRequest,
    session_id: str,
    body: NewMessage,
    key: Annotated[str, KEY] = "",
    prefer: Annotated[str, PREFER] = "",
) -> Any:
    """Say something, and wait for the answer. 200 with its envelope, or 202 with where to ask: when the caller did not
    want to wait, when the wait is over, and when a person has to decide something first."""
    caller = caller_of(request)
    caller.needs("chat")
    session = await read_beside_sessions(get_session, caller.who, session_id)
    number = await later_in_session(
        session.pk, _said, caller, session, body, key or secrets.token_urlsafe(32)
    )
    turn = await standing(session, number, patience(prefer))
    return await in_session(session.pk, _answer, turn, caller.who.key)


def _said(caller: Caller, session: Session, body: NewMessage, key: str) -> int:
    """The number of the turn that answers."""
    decisions = [part for part in body.parts if _decides(part)]
    if not decisions:
        said = post_message(session, caller.who, key, body.text, parts=body.parts)
        # The last row of a message is that of the turn that it opens.
        return Event.objects.values_list("turn", flat=True).get(session=session, seq=said["seq"])
    if body.text or len(body.parts) > 1:
        raise ValidationFailed("A decision comes alone: one part, and no text.", path="/parts")
    given = _decision_in(decisions[0])
    post_decision(
        session,
        caller.who,
        key,
        given.approvalId,
        given.decision,
        reason=given.reason or "",
        source=DOOR.name,
        sent=_beside(decisions[0]),
    )
    return session.approvals.values_list("turn__number", flat=True).get(approval_id=given.approvalId)


def _beside(part: dict[str, Any]) -> dict[str, Any]:
    """What a decision says beside what is read of it, but for what its part holds of who decided, and when."""
    known = {*Decision.model_fields, "decidedBy", "decidedAt"}
    return {key: value for key, value in part["data"].items() if key not in known}


def _decision_in(part: dict[str, Any]) -> Decision:
    """What a part of a caller decides. Raises ``ValidationFailed`` with a pointer into the request."""
    try:
        return Decision.model_validate(part.get("data"))
    except ValidationError as error:
        raise from_pydantic(error, "/parts/0/data") from error


def _decides(part: dict[str, Any]) -> bool:
    metadata = part.get("metadata")
    kind = part_types.get(metadata.get("partType") if isinstance(metadata, dict) else part.get("partType"))
    return kind is not None and kind.decides


@router.post(
    "/sessions/{session_id}/actions",
    response={200: Envelope | Effect, 202: Pending, 410: Problem, 413: Problem, **REFUSALS},
    operation_id="act",
)
async def act(
    request: HttpRequest,
    session_id: str,
    body: NewAction,
    key: Annotated[str, KEY] = "",
    prefer: Annotated[str, PREFER] = "",
) -> Any:
    """Press a button of a surface. Answers as `say` does; of a button without a turn, 200 with what there is to do. On
    the surface of an approval it decides, by the same rights as anywhere."""
    caller = caller_of(request)
    caller.needs("chat")
    session = await read_beside_sessions(get_session, caller.who, session_id)
    done = await later_in_session(session.pk, _acted, caller, session, body, key or secrets.token_urlsafe(32))
    if not isinstance(done, int):
        return Status(200, done)
    turn = await standing(session, done, patience(prefer))
    return await in_session(session.pk, _answer, turn, caller.who.key)


def _acted(caller: Caller, session: Session, body: NewAction, key: str) -> int | dict[str, Any]:
    """The number of the turn that answers, or what the caller is to do."""
    owner = RUNTIME if is_reserved(body.surfaceId) else body.owner or session.actor
    target = ComponentTarget(owner, body.surfaceId, body.componentId, body.itemPath)
    done = post_action(session, caller.who, key, target, source=DOOR.name)
    if approval_id := approval_of(body.surfaceId):
        return session.approvals.values_list("turn__number", flat=True).get(approval_id=approval_id)
    row = Event.objects.filter(session=session, seq=done.get("seq", 0)).first()
    if row is not None and row.turn:
        return row.turn
    return {"effect": done.get("effect", {})}


@router.get(
    "/sessions/{session_id}/turns/{turn_id}",
    response={200: Envelope, 202: Pending, **REFUSALS},
    operation_id="answer",
)
async def answer(
    request: HttpRequest, session_id: str, turn_id: str, prefer: Annotated[str, PREFER] = "respond-async"
) -> Any:
    """The envelope of a turn, or 202 while it is not settled. Does not wait, unless asked to."""
    caller = caller_of(request)
    caller.needs("read")
    session = await read_beside_sessions(get_session, caller.who, session_id)
    number = await in_session(session.pk, _numbered, session, turn_id)
    turn = await standing(session, number, patience(prefer))
    return await in_session(session.pk, _answer, turn, caller.who.key)


def _numbered(session: Session, turn_id: str) -> int:
    named = session.turns.filter(public_id=turn_id).values_list("number", flat=True)
    # What is no id at all is not looked for: databases refuse some texts.
    found = named.first() if turn_id.isalnum() else None
    if found is None:
        raise NotFound("There is no such turn in this conversation.")
    return found


def _answer(turn: Turn, who: str) -> Any:
    """As whoever asks gets it, where they have said something in it."""
    turn = find(turn.session, turn.number)
    if turn.status == TurnStatus.SETTLED:
        return Status(200, envelope_for(turn, connection=HTTP.connection, who=who))
    waits = paused(turn)
    said = partial_envelope_for(turn, connection=HTTP.connection, who=who)
    return Status(
        202,
        {
            **said,
            "parts": said["parts"] if waits is not None else [],
            "turnState": declared_in(waits or turn),
            "url": reverse(
                "envelopes:api:answer",
                kwargs={"session_id": turn.session.public_id, "turn_id": turn.public_id},
            ),
        },
    )
