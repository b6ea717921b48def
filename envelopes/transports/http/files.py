"""The operations for files: keep one, fetch one."""

from __future__ import annotations

import asyncio
from typing import Any

from django.http import HttpRequest
from ninja import File, Form, Router, Status, UploadedFile

from envelopes import artifacts
from envelopes.access import get_session, owns
from envelopes.artifacts.serving import response
from envelopes.database_threads import in_session, read_beside_sessions
from envelopes.errors import Forbidden
from envelopes.log.append import writing
from envelopes.models import Session
from envelopes.transports.api import Caller, Problem, caller_of
from envelopes.transports.http.shapes import FileKept

router = Router(tags=["files"])

REFUSALS = {400: Problem, 401: Problem, 403: Problem, 404: Problem, 413: Problem, 429: Problem, 503: Problem}


@router.post(
    "/sessions/{session_id}/artifacts",
    response={201: FileKept, **REFUSALS},
    operation_id="keepFile",
    url_name="keep",
)
async def keep(request: HttpRequest, session_id: str, file: File[UploadedFile], alt: Form[str] = "") -> Any:
    """Keep a file in a conversation of the caller's own. A message shows it by a part of type ``artifact`` with what
    this answers as ``data``; ``alt`` is what is to be seen, where it is a picture."""
    caller = caller_of(request)
    caller.needs("chat")
    session = await read_beside_sessions(get_session, caller.who, session_id)
    if not await read_beside_sessions(owns, caller.who, session):
        raise Forbidden("Only the owner of this conversation can do that.")
    artifacts.check_size(file.size or 0)
    there = await asyncio.to_thread(artifacts.put, session.public_id, file)
    return await in_session(session.pk, _kept, caller, session, file, alt, there)


def _kept(caller: Caller, session: Session, file: UploadedFile, alt: str, there: artifacts.Stored) -> Any:
    chunk = artifacts.Chunk(name=file.name or "", mime_type=file.content_type or "", alt=alt, last_chunk=True)
    with artifacts.kept(there), writing(session.pk) as writer:
        part = artifacts.begin(writer.session, caller.who.key, chunk, there, unnamed=True)
    return Status(201, part["data"])


@router.get(
    "/artifacts/{artifact_id}",
    response={404: Problem, 401: Problem, 403: Problem, 429: Problem, 503: Problem},
    operation_id="download",
    url_name="download",
    openapi_extra={
        "responses": {
            200: {"description": "The file.", "content": {"application/octet-stream": {}}},
            206: {"description": "The part of it that `Range` asks for."},
            304: {"description": "It is what `If-None-Match` names."},
            416: {"description": "It has no such part."},
        }
    },
)
async def download(request: HttpRequest, artifact_id: str) -> Any:
    """A file of a conversation that the caller may read, always as an attachment. ``ETag`` is its digest; one ``Range``
    may be asked for. The ``url`` of a part leads to the same."""
    caller = caller_of(request)
    caller.needs("read")
    return await response(request, caller.who, artifact_id)
