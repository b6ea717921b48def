"""Parts that speak of files, as they come from somebody who may say anything."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.urls import Resolver404

from a2ui.safety.urls import safe_open
from envelopes.addresses import resolved
from envelopes.artifacts.unnamed import name
from envelopes.artifacts.writing import facts
from envelopes.errors import ValidationFailed
from envelopes.models import Artifact, Session
from envelopes.part_types.artifact import OF_A_WRITE
from envelopes.protocol.parts import Part
from envelopes.registries.part_types import part_types
from envelopes.types import Json, JsonObject

_OF_THE_RUNTIME = (*OF_A_WRITE, "width", "height", "sha256")
"""What the runtime alone says of a file."""


def checked(session: Session, parts: Sequence[Part], path: str = "/parts") -> list[Part]:
    """``parts`` as they are stored. One that shows a file of this session has the file's own name, type and size, with
    whatever host it is written: what a person reads is what they download. One with a web address of another host
    stands as it is.

    Raises ``ValidationFailed``, with a pointer that begins with ``path`` and the part's number, for one that leads to
    no file of this session: of another, to none at all, or to an address that nobody may be sent to.
    """
    return [referred(session, part, f"{path}/{number}") for number, part in enumerate(parts)]


def referred(session: Session, part: Part, path: str) -> Part:
    """One of them; ``path`` is its own."""
    if part.data is None or not part_types[part.part_type].is_file:
        return part
    given = part.data
    url, named = given.get("url"), str(given["artifactId"])
    ours = _id_in(url) if isinstance(url, str) else None
    kept = {key: value for key, value in given.items() if key not in _OF_THE_RUNTIME}
    if url is not None and ours is None:
        if safe_open(url) is None:
            raise ValidationFailed(
                "A file is a file of this conversation, or has an address that begins with https:// or http://.",
                path=f"{path}/data/url",
            )
        if Artifact.objects.filter(artifact_id=named).exists():
            raise ValidationFailed(
                "This is the id of a file that is kept here, with the address of another one.",
                path=f"{path}/data/artifactId",
            )
        return part.model_copy(update={"data": kept})
    asked = ours if ours is not None else named
    file = Artifact.objects.filter(session=session, artifact_id=asked).first()
    if file is None:
        raise ValidationFailed(
            f"There is no file {asked[:64]!r} in this conversation.",
            path=f"{path}/data/{'url' if ours is not None else 'artifactId'}",
        )
    name(file)
    unfinished: JsonObject = {} if file.is_whole else {"lastChunk": False}
    return part.model_copy(update={"data": kept | facts(file) | unfinished})


def _id_in(url: str) -> Json:
    """The id of the file whose address that would be here, None for one that is no address of a file here. A turn
    does not know by which hosts people reach this one, so one of another host counts where there is such a file."""
    try:
        parts = urlsplit(url)
        found = resolved(url)
    except (Resolver404, ValueError):
        return None
    if found.view_name not in ("envelopes:artifact", "envelopes:api:download"):
        return None
    artifact_id = str(found.kwargs["artifact_id"])
    is_here = not parts.netloc or Artifact.objects.filter(artifact_id=artifact_id).exists()
    return artifact_id if is_here else None
