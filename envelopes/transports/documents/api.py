"""The operations on documents: send a patch, fetch a document, follow documents."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router, Schema, Status
from ninja.params.functions import Header

from envelopes.access import get_session
from envelopes.database_threads import later_in_session, read_beside_sessions
from envelopes.delivery import Changed, Follower, NotInLog, Reader, event_stream, streams
from envelopes.delivery.items import Seen
from envelopes.errors import NotFound, ValidationFailed
from envelopes.models import Session
from envelopes.session_state import Frame, PresentedSession, TooFarBack
from envelopes.transports.api import Problem, caller_of, still_reads
from envelopes.transports.documents.formats.patches import root_replacement
from envelopes.transports.documents.messages import post_envelope
from envelopes.transports.documents.outbound import CLOSED, notification
from envelopes.transports.documents.presenter import MESSAGE, Documents, event, is_message
from envelopes.transports.documents.shapes.a2ui import A2UI_BYTES, A2uiEnvelope
from envelopes.transports.documents.shapes.common import canonical_id
from envelopes.transports.documents.shapes.message import MESSAGE_BYTES, MessageEnvelope
from envelopes.transports.documents.shapes.reading import read_envelope
from envelopes.transports.documents.storing import current, post_patch
from envelopes.transports.documents.transport import DOCUMENTS

router = Router(tags=["documents"])

REFUSALS = {400: Problem, 401: Problem, 403: Problem, 404: Problem, 409: Problem, 429: Problem, 503: Problem}
_STREAM = {
    "responses": {
        200: {
            "description": "Events until the caller goes: docs/documents.md lists them.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    }
}
First = Callable[[PresentedSession], list[str]] | None
Wanted = Callable[[str], bool]
LAST = Header("", alias="Last-Event-ID", max_length=18, description="Go on after this row.")


def _body(schema: str) -> dict[str, Any]:
    """Of a request that is read by hand, since what is wrong with it has kinds and an order of its own."""
    described = {"type": "object", "description": f"/schemas/{schema}"}
    return {"content": {"application/json": {"schema": described}}, "required": True}


class Patched(Schema):
    """What became of a patch: the document counts its patches, ``repairs`` is what was cut, dropped or renamed, ``seq``
    the row. ``shown`` is false of an experimental document that may not be seen now. ``repeated``: an envelope of this
    id was there before, and this one had no effect."""

    surface: str
    version: int
    shown: bool = True
    repairs: list[dict[str, Any]]
    seq: int
    repeated: bool = False


@router.post(
    "/sessions/{session_id}/documents",
    response={200: Patched, 413: Problem, **REFUSALS},
    operation_id="patchDocument",
    openapi_extra={"requestBody": _body("a2ui-envelope.v1.json")},
)
async def patch(request: HttpRequest, session_id: str) -> Any:
    """Apply the patch of an a2ui envelope to the caller's document on its surface. The first one of a surface begins
    with an empty document, or replaces all of it (one operation with the empty path)."""
    caller = caller_of(request)
    caller.needs("documents")
    envelope = read_envelope(A2uiEnvelope, request.body, A2UI_BYTES)
    session = await read_beside_sessions(get_session, caller.who, session_id)
    return await later_in_session(session.pk, post_patch, session, caller.who, envelope)


class Said(Schema):
    """``seq`` is the last row of the message, ``turn`` the number of the turn that answers."""

    seq: int
    turn: int


@router.post(
    "/sessions/{session_id}/message-envelopes",
    response={202: Said, 413: Problem, **REFUSALS},
    operation_id="sendMessageEnvelope",
    openapi_extra={"requestBody": _body("message-envelope.v1.json")},
)
async def say(request: HttpRequest, session_id: str) -> Any:
    """Say what a message envelope holds. What is answered is followed, or fetched, as ever."""
    caller = caller_of(request)
    caller.needs("chat")
    envelope = read_envelope(MessageEnvelope, request.body, MESSAGE_BYTES)
    session = await read_beside_sessions(get_session, caller.who, session_id)
    said = await later_in_session(session.pk, post_envelope, session, caller.who, envelope, time.time())
    return Status(202, said)


@router.get(
    "/sessions/{session_id}/documents",
    response=REFUSALS,
    operation_id="followDocuments",
    openapi_extra=_STREAM,
)
async def follow(request: HttpRequest, session_id: str, last: Annotated[str, LAST] = "") -> Any:
    """Every document of a conversation as it is, then patches as they come, for as long as the caller listens."""
    return await _stream(request, session_id, last, _whole, _is_of_documents)


@router.get(
    "/sessions/{session_id}/message-envelopes",
    response=REFUSALS,
    operation_id="followMessageEnvelopes",
    openapi_extra=_STREAM,
)
async def listen(request: HttpRequest, session_id: str, last: Annotated[str, LAST] = "") -> Any:
    """What is said in a conversation from now on, and what the system tells of it, as message envelopes."""
    return await _stream(request, session_id, last, None, is_message)


async def _stream(request: HttpRequest, session_id: str, last: str, first: First, wanted: Wanted) -> Any:
    caller = caller_of(request)
    caller.needs("read")
    who = caller.who
    session = await read_beside_sessions(get_session, who, session_id)
    if who.kind is None:
        raise NotFound
    if last and not (last.isascii() and last.isdigit()):
        raise ValidationFailed("Last-Event-ID is the number of a row.", path="Last-Event-ID")

    async def check() -> None:
        if not await read_beside_sessions(still_reads, request, who, session_id):
            raise Changed

    reader = Reader(who.kind, who.consumes, surfaces=True)
    follower = Follower(session, DOCUMENTS, reader, check=check, recheck_seconds=event_stream.RECHECK_SECONDS)
    told = _events(follower, session, int(last) if last else None, first, wanted)
    events = streams.opened(who.key, told)
    return event_stream.event_response(events)


async def _events(
    follower: Follower, session: Session, last: int | None, first: First, wanted: Wanted
) -> AsyncGenerator[str]:
    yield event_stream.BEGIN

    async def tell(items: AsyncGenerator[Any]) -> AsyncGenerator[str]:
        async with aclosing(items):
            async for item in items:
                if isinstance(item, Frame) and wanted(item.payload):
                    yield item.payload

    try:
        async with aclosing(tell(follower.begin(session.last_seq if last is None else last))) as before:
            async for told in before:
                yield told
        if last is None and first is not None:
            async with aclosing(follower.look(first)) as items:
                async for item in items:
                    # What came before that is in the documents.
                    if isinstance(item, Seen):
                        for told in item.made:
                            yield told
        yield event("upToDate", {"seq": follower.cursor})
        async with aclosing(event_stream.new_events(follower, tell)) as new:
            async for told in new:
                yield told
    except (Changed, NotInLog, TooFarBack) as error:
        if isinstance(error, Changed) and wanted is is_message:
            words = "This conversation is closed to you."
            gone = notification(session.public_id, follower.cursor, timezone.now(), CLOSED, words)
            yield event(MESSAGE, gone)
        yield event("error", error.as_dict())
    finally:
        follower.close()


def _whole(shown: PresentedSession) -> list[str]:
    presenter = shown.presenter
    return presenter.whole(shown.state.seq) if isinstance(presenter, Documents) else []


def _is_of_documents(payload: str) -> bool:
    return not is_message(payload)


@router.get(
    "/sessions/{session_id}/documents/{path:surface}",
    response={200: dict[str, Any], **REFUSALS},
    operation_id="document",
)
async def document(request: HttpRequest, session_id: str, surface: str) -> Any:
    """The caller's document on a surface, as an envelope whose patch replaces all of it. ``ETag`` is its version."""
    caller = caller_of(request)
    caller.needs("read")
    session = await read_beside_sessions(get_session, caller.who, session_id)
    found = await read_beside_sessions(current, session, caller.who.key, surface)
    tag = f'"{found.version}"'
    if request.headers.get("If-None-Match") == tag:
        return HttpResponse(status=304, headers={"ETag": tag})
    replaced = root_replacement(found.document).as_json()
    name = canonical_id(0, session.public_id, found.owner, surface, found.version)
    envelope = A2uiEnvelope.model_validate({"v": 1, "id": name, "surface": surface, "patch": replaced})
    return HttpResponse(
        envelope.model_dump_json(exclude_unset=True), content_type="application/json", headers={"ETag": tag}
    )
