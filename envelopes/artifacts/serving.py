"""A file over HTTP: to whoever may see its conversation, always as a download, streamed from the storage."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncGenerator, Sequence

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header, parse_etags
from django.views.decorators.http import require_safe

from envelopes import peers
from envelopes.access import Principal, principal_of, visible_sessions
from envelopes.artifacts.reading import spans
from envelopes.artifacts.writing import UNKNOWN_TYPE
from envelopes.database_threads import read_beside_sessions
from envelopes.errors import TooOften, Unavailable
from envelopes.models import Artifact, ArtifactPiece
from envelopes.protocol.file_names import file_name
from envelopes.quotas import Quota

logger = logging.getLogger(__name__)

downloads = Quota("downloads", "BEACH_DOWNLOADS_PER_CALLER", "BEACH_DOWNLOADS")
"""Of this process, by ``access.Principal.key``."""

RETRY_SECONDS = 60
"""A storage that has gone is back no sooner."""

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")

HEADERS = {
    # It may be written on, and who may read it may change; the ETag spares the bytes.
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    # Opened in spite of all, it has no scripts, no origin and no way out.
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Accept-Ranges": "bytes",
    "Vary": "Authorization, Cookie",
}


@require_safe
async def download(request: HttpRequest, artifact_id: str) -> HttpResponseBase:
    """The file, for the browser of whoever may see its conversation, and for the program whose token may read."""
    try:
        who = await read_beside_sessions(_reader, request)
        return await response(request, who, artifact_id)
    except (TooOften, Unavailable) as error:
        again = {"Retry-After": str(max(1, round(error.facts["retry_after"])))}
        status = 429 if isinstance(error, TooOften) else 503
        return HttpResponse(error.message, "text/plain; charset=utf-8", status, headers=again)


def _reader(request: HttpRequest) -> Principal:
    """Raises ``Http404`` for a token that may not read, ``TooOften``."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer":
        return principal_of(request)
    peer = peers.authenticate(token)
    if peer is None or "read" not in peer.scopes:
        raise Http404("There is no such file, or it is not yours.")
    peers.rates.take(peer)
    return peers.principal_of_peer(peer)


async def response(request: HttpRequest, who: Principal, artifact_id: str) -> HttpResponseBase:
    """The answer to ``request`` for the file, with ranges and ETags (RFC 9110, sections 13 and 14). Raises ``Http404``
    for one that is not there or not theirs, ``TooOften`` and ``Crowded`` where too many are being sent, ``Unavailable``
    where its bytes cannot be read."""
    file, pieces = await read_beside_sessions(_found, who, artifact_id)
    etag, size = etag_of(file, pieces), file.size_bytes
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        return _with_headers(HttpResponse(status=304), file, etag)
    start, stop, status = _asked(request, etag, size)
    if start >= stop and status == 416:
        refused = _with_headers(HttpResponse(status=416), file, etag)
        refused["Content-Range"] = f"bytes */{size}"
        return refused
    is_sent = request.method != "HEAD" and start < stop
    answer: HttpResponseBase = HttpResponse(status=status)
    if is_sent:
        await asyncio.to_thread(_try, file, pieces, start)
        bytes_of_it = downloads.opened(who.key, _streamed(pieces, start, stop))
        answer = StreamingHttpResponse(bytes_of_it, status=status)
    answer["Content-Length"] = str(stop - start)
    if status == 206:
        answer["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
    return _with_headers(answer, file, etag)


def _found(who: Principal, artifact_id: str) -> tuple[Artifact, list[ArtifactPiece]]:
    # What is no id at all is not looked for: a NUL in it would be an error of the database.
    if artifact_id.isalnum():
        visible = visible_sessions(who)
        file = Artifact.objects.filter(artifact_id=artifact_id, session__in=visible).first()
        if file is not None:
            return file, list(file.pieces.all())
    raise Http404("There is no such file, or it is not yours.")


def etag_of(file: Artifact, pieces: Sequence[ArtifactPiece]) -> str:
    """By what is in it: the digest of a file that is whole, one of the pieces so far of one that is not."""
    digest = file.sha256 or hashlib.sha256("".join(piece.sha256 for piece in pieces).encode()).hexdigest()
    return f'"{digest}"'


def _asked(request: HttpRequest, etag: str, size: int) -> tuple[int, int, int]:
    """``start, stop, status``. More than one range, and what is no range, gets all of it."""
    found = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if found is None or request.headers.get("If-Range", etag) != etag or not (found[1] or found[2]):
        return 0, size, 200
    if not found[1]:
        start, stop = max(0, size - int(found[2])), size
    else:
        start = int(found[1])
        stop = min(size, int(found[2]) + 1) if found[2] else size
        if found[2] and int(found[2]) < start:
            return 0, size, 200
    return (start, stop, 206) if start < stop else (0, 0, 416)


def _try(file: Artifact, pieces: Sequence[ArtifactPiece], start: int) -> None:
    """Before anybody is told that it comes: after that there is nothing but to break off. Raises ``Unavailable``."""
    try:
        next(spans(pieces, start, start + 1))
    except OSError as error:
        logger.error("The file %s cannot be read: %r", file.artifact_id, error)  # noqa: TRY400 - a sweep names them
        told = "The bytes of this file cannot be read at the moment. Try again in a while."
        raise Unavailable(told, retry_after=RETRY_SECONDS) from error


async def _streamed(pieces: Sequence[ArtifactPiece], start: int, stop: int) -> AsyncGenerator[bytes]:
    reading = spans(pieces, start, stop)
    step: asyncio.Task[bytes] | None = None
    try:
        while True:
            step = asyncio.create_task(asyncio.to_thread(next, reading, b""))
            if (span := await asyncio.shield(step)) == b"":
                return
            yield span
    finally:
        if step is None or step.done():
            reading.close()
        else:
            # Cut off while a thread reads, which nobody can stop: the file is closed when that has ended.
            step.add_done_callback(lambda done: reading.close() if done.exception() is None else None)


def _with_headers(answer: HttpResponseBase, file: Artifact, etag: str) -> HttpResponseBase:
    # A picture that was looked at is one; of anything else nobody is told more than that it is bytes.
    answer["Content-Type"] = file.mime_type if file.width else UNKNOWN_TYPE
    answer["Content-Disposition"] = content_disposition_header(True, file_name(file.name)) or "attachment"
    answer["ETag"] = etag
    for name, value in HEADERS.items():
        answer[name] = value
    return answer
