"""Files of a session: stored beside it, shown as ``artifact`` parts, served to whoever may see the session."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from envelopes.access import principal_of, visible_sessions
from envelopes.conf import setting
from envelopes.errors import TooLarge
from envelopes.models import Artifact, Session
from envelopes.protocol.file_names import file_name
from envelopes.protocol.text import clean_text
from envelopes.types import JsonObject


def store(session: Session, name: str, mime_type: str, content: bytes) -> JsonObject:
    """Keep a file; returns the ``artifact`` part that refers to it. Raises ``TooLarge``."""
    limit = setting("BEACH_ARTIFACT_BYTES")
    if len(content) > limit:
        raise TooLarge(f"The file has {len(content):,} bytes; at most {limit:,} are kept.", limit=limit)
    artifact = Artifact.objects.create(
        session=session,
        name=file_name(name),
        mime_type=clean_text(mime_type)[:128],
        size_bytes=len(content),
        content=content,
    )
    data = {
        "artifactId": artifact.artifact_id,
        "mimeType": artifact.mime_type,
        "sizeBytes": artifact.size_bytes,
        "name": artifact.name,
        "url": reverse("envelopes:artifact", args=[artifact.artifact_id]),
    }
    return {"metadata": {"partType": "artifact"}, "data": data}


@require_safe
@cache_control(private=True, max_age=3600)
def download(request: HttpRequest, artifact_id: str) -> HttpResponse:
    """The file, always as a download: whatever an agent stored must not run as a page of this site."""
    visible = visible_sessions(principal_of(request))
    found = (
        Artifact.objects.filter(artifact_id=artifact_id, session__in=visible)
        if artifact_id.isalnum()
        else None
    )
    artifact = found.first() if found is not None else None
    if artifact is None:
        raise Http404("There is no such file, or it is not yours.")
    response = HttpResponse(bytes(artifact.content), content_type="application/octet-stream")
    response["Content-Disposition"] = (
        content_disposition_header(True, file_name(artifact.name)) or "attachment"
    )
    return response
