"""Files of a session: stored beside it, shown as ``artifact`` parts, served to whoever may see the session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from django.db.models import BinaryField, F, Func, Value
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import Resolver404, resolve, reverse
from django.utils.http import content_disposition_header
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from envelopes.access import principal_of, visible_sessions
from envelopes.conf import conf
from envelopes.database_threads import read_beside_sessions
from envelopes.errors import NotFound, TooLarge
from envelopes.models import Artifact, Session
from envelopes.part_types.artifact import ARTIFACT
from envelopes.protocol.file_names import file_name
from envelopes.protocol.parts import Part
from envelopes.protocol.text import clean_text
from envelopes.types import JsonObject

AS_FILE = "application/octet-stream"

PIECE_BYTES = 1_048_576
"""Of so many bytes of a file, at most, lie in this process for each of those who download it."""


def store(session: Session, name: str, mime_type: str, content: bytes) -> JsonObject:
    """Keep a file; returns the ``artifact`` part that refers to it. Raises ``TooLarge``."""
    limit = conf.BEACH_ARTIFACT_BYTES
    if len(content) > limit:
        raise TooLarge(f"The file has {len(content):,} bytes; at most {limit:,} are kept.", limit=limit)
    artifact = Artifact.objects.create(
        session=session,
        name=file_name(name),
        mime_type=clean_text(mime_type)[:128],
        size_bytes=len(content),
        content=content,
    )
    return {"metadata": {"partType": ARTIFACT.name}, "data": _facts(artifact)}


def _facts(artifact: Artifact) -> JsonObject:
    return {
        "artifactId": artifact.artifact_id,
        "mimeType": artifact.mime_type,
        "sizeBytes": artifact.size_bytes,
        "name": artifact.name,
        "url": reverse("envelopes:artifact", args=[artifact.artifact_id]),
    }


def as_stored(session: Session, part: Part) -> Part:
    """An actor's part. One that shows a file of this session has the file's own name, type and size, with whatever host
    it is written: what a person reads is what they download. One that leads to a file of another session here, or to
    none, leads nowhere."""
    if part.part_type != ARTIFACT.name or part.data is None:
        return part
    url = part.data.get("url")
    asked, here = _id_in(url) if isinstance(url, str) else (str(part.data["artifactId"]), True)
    if not asked:
        return part
    file = Artifact.objects.defer("content").filter(session=session, artifact_id=asked).first()
    if file is None and not here:
        return part
    kept = {key: value for key, value in part.data.items() if key != "url"}
    if file is not None:
        kept |= _facts(file)
    return part.model_copy(update={"data": kept})


def _id_in(url: str) -> tuple[str, bool]:
    """The id of the file whose address that would be here, empty for none; and whether it names no other host. A turn
    does not know by which hosts people reach this one, but ids are random: whoever has one means the file here."""
    try:
        parts = urlsplit(url)
        found = resolve(parts.path)
    except (Resolver404, ValueError):
        return "", False
    return (str(found.kwargs["artifact_id"]), not parts.netloc) if found.func is download else ("", False)


@require_safe
@cache_control(private=True, max_age=3600)
def download(request: HttpRequest, artifact_id: str) -> HttpResponseBase:
    """The file, always as a download: whatever an agent stored must not run as a page of this site."""
    visible = visible_sessions(principal_of(request))
    found = (
        Artifact.objects.filter(artifact_id=artifact_id, session__in=visible)
        if artifact_id.isalnum()
        else None
    )
    artifact = found.defer("content").first() if found is not None else None
    if artifact is None:
        raise Http404("There is no such file, or it is not yours.")
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse(content_type=AS_FILE)
    elif artifact.size_bytes <= PIECE_BYTES:
        response = HttpResponse(bytes(artifact.content), content_type=AS_FILE)
    else:
        pieces = _pieces(artifact.pk, artifact.size_bytes)
        response = StreamingHttpResponse(pieces, content_type=AS_FILE)
    response["Content-Length"] = str(artifact.size_bytes)
    response["Content-Disposition"] = (
        content_disposition_header(True, file_name(artifact.name)) or "attachment"
    )
    return response


async def _pieces(artifact: int, size: int) -> AsyncIterator[bytes]:
    """The content, read as it is taken: a slow reader holds one piece, and no connection to the database."""
    for at in range(0, size, PIECE_BYTES):
        piece = await read_beside_sessions(_piece, artifact, at)
        if len(piece) != min(PIECE_BYTES, size - at):
            # The connection is cut: what has been sent must not look like the file.
            raise NotFound("The file is gone.")
        yield piece


def _piece(artifact: int, at: int) -> bytes:
    part = Func(
        F("content"), Value(at + 1), Value(PIECE_BYTES), function="SUBSTR", output_field=BinaryField()
    )
    return bytes(Artifact.objects.filter(pk=artifact).values_list(part, flat=True).first() or b"")
