"""Files as they are written: whole, or in pieces that are appended or replace what was there.

``append`` and ``last_chunk`` mean what they mean in A2A (TaskArtifactUpdateEvent): a write without ``append`` replaces
the content, one with it goes on, and after the last chunk nothing is appended any more.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Sum
from django.urls import reverse

from envelopes.artifacts.pictures import size_of
from envelopes.artifacts.reading import PiecesReader, digest_of
from envelopes.artifacts.storing import Stored
from envelopes.conf import conf
from envelopes.errors import Conflict, Forbidden, TooLarge, ValidationFailed
from envelopes.models import Artifact, ArtifactPiece, Session
from envelopes.part_types.artifact import ARTIFACT
from envelopes.protocol.file_names import file_name
from envelopes.protocol.text import clean_text
from envelopes.types import JsonObject

PIECES = 1_000
"""Of one file: each is a row here and a part in the log."""

UNKNOWN_TYPE = "application/octet-stream"
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")


@dataclass(frozen=True)
class Chunk:
    """One write. Without an ``artifact_id`` it begins a file.

    ``seq`` is the number of the write, from 1: one that has been made already has no effect, so that it may be sent
    again. ``alt`` says what is to be seen, to whoever does not see it.
    """

    name: str = ""
    mime_type: str = ""
    artifact_id: str = ""
    append: bool = False
    last_chunk: bool = False
    seq: int | None = None
    alt: str = ""


WHOLE = Chunk(last_chunk=True)


def media_type(given: str) -> str:
    """``given`` without parameters and in lower case; that of any bytes for what is no media type (RFC 6838)."""
    bare = clean_text(given).partition(";")[0].strip().lower()
    return bare if _MEDIA_TYPE.fullmatch(bare) else UNKNOWN_TYPE


def check_size(size: int) -> None:
    """Raises ``TooLarge`` for a file of so many bytes, before anything is kept of it."""
    limit = conf.BEACH_ARTIFACT_BYTES
    if size > limit:
        raise TooLarge(f"The file has {size:,} bytes; at most {limit:,} are kept.", limit=limit)


def found(session: Session | int, artifact_id: str, *, path: str = "/data/artifactId") -> Artifact:
    """The file of this very session, which may be named by its primary key. Raises ``ValidationFailed``, with the same
    sentence for one of another session."""
    artifact = Artifact.objects.filter(session=session, artifact_id=artifact_id).first()
    if artifact is None:
        raise ValidationFailed(f"There is no file {artifact_id[:64]!r} in this conversation.", path=path)
    return artifact


def reference(session: Session, artifact_id: str) -> JsonObject:
    """A part that shows a file of this session. Raises ``ValidationFailed`` for an unknown one."""
    return {"metadata": {"partType": ARTIFACT.name}, "data": facts(found(session, artifact_id))}


def begin(session: Session, owner: str, chunk: Chunk, stored: Stored, *, unnamed: bool = False) -> JsonObject:
    """The first write of a file, as ``record`` stores it. ``unnamed``: no row shows it so far, see ``unnamed``."""
    if chunk.append:
        raise ValidationFailed(
            "Nothing can be appended to a file that does not exist.", path="/data/artifactId"
        )
    fresh = Artifact(session=session, owner=owner, writes=0, size_bytes=0, is_whole=False, is_unnamed=unnamed)
    return _written(session, fresh, chunk, stored)


def record(session: Session, owner: str, chunk: Chunk, stored: Stored) -> JsonObject | None:
    """Store the rows of a write whose bytes are in the storage, under the lock of ``session``; returns the ``artifact``
    part that tells of it, None for a write that was made before.

    Raises ``ValidationFailed`` for an unknown file, for one that is finished and for a ``seq`` that leaves some out;
    ``Forbidden`` for somebody else's; ``Conflict`` where another write has this ``seq``; ``TooLarge``.
    """
    if not chunk.artifact_id:
        return begin(session, owner, chunk, stored)
    artifact = found(session, chunk.artifact_id)
    if artifact.owner != owner:
        raise Forbidden("This file belongs to somebody else, who alone may write to it.")
    if _made_before(artifact, chunk, stored):
        return None
    return _written(session, artifact, chunk, stored)


def _written(session: Session, artifact: Artifact, chunk: Chunk, stored: Stored) -> JsonObject:
    if chunk.append and artifact.is_whole:
        raise ValidationFailed("This file is finished: nothing can be appended to it.", path="/data/append")
    before = list(artifact.pieces.all()) if artifact.pk and chunk.append else []
    offset = artifact.size_bytes if chunk.append else 0
    _check_room(session, artifact, offset + stored.size, before)
    artifact.writes += 1
    artifact.size_bytes = offset + stored.size
    if chunk.name or not artifact.name:
        artifact.name = file_name(chunk.name)
    if chunk.mime_type or not artifact.mime_type:
        artifact.mime_type = media_type(chunk.mime_type)
    piece = ArtifactPiece(
        number=artifact.writes, file=stored.file, size_bytes=stored.size, sha256=stored.sha256
    )
    _finish(artifact, [*before, piece], chunk.last_chunk)
    artifact.save()
    if not chunk.append:
        # Their files go once this is committed (``signals``).
        artifact.pieces.all().delete()
    piece.artifact = artifact
    piece.save()
    stored.use()
    return _part(artifact, chunk, offset)


def _made_before(artifact: Artifact, chunk: Chunk, stored: Stored) -> bool:
    if chunk.seq is None or chunk.seq == artifact.writes + 1:
        return False
    if not 1 <= chunk.seq <= artifact.writes:
        told = f"Write {chunk.seq} cannot come next: it would be the one with seq {artifact.writes + 1}."
        raise ValidationFailed(told, path="/data/seq", expected=artifact.writes + 1)
    known = artifact.pieces.filter(number=chunk.seq).first()
    # What a later write has replaced was made as well.
    if known is not None and known.sha256 != stored.sha256:
        raise Conflict(f"Write {chunk.seq} has been made, with other bytes.", seq=chunk.seq)
    return True


def _check_room(session: Session, artifact: Artifact, size: int, before: Sequence[ArtifactPiece]) -> None:
    check_size(size)
    if len(before) >= PIECES:
        raise TooLarge(f"A file is written in at most {PIECES:,} pieces.", limit=PIECES)
    most = conf.BEACH_SESSION_ARTIFACT_BYTES
    others = session.artifacts.exclude(pk=artifact.pk).aggregate(all=Sum("size_bytes"))["all"] or 0
    if others + size > most:
        told = f"The files of a conversation have at most {most:,} bytes together; there is no room for {size:,}."
        raise TooLarge(told, limit=most)


def _finish(artifact: Artifact, pieces: Sequence[ArtifactPiece], last: bool) -> None:
    """What is known of a file once all of it is there. Reads it, where it came in several pieces."""
    artifact.is_whole = last
    artifact.sha256 = digest_of(pieces) if last else ""
    artifact.width = artifact.height = 0
    if last:
        with io.BufferedReader(PiecesReader(pieces)) as file:
            artifact.width, artifact.height = size_of(artifact.mime_type, artifact.size_bytes, file)


def _part(artifact: Artifact, chunk: Chunk, offset: int) -> JsonObject:
    data = facts(artifact)
    if chunk.alt.strip():
        data["alt"] = clean_text(chunk.alt)[:512]
    if artifact.writes > 1 or not chunk.last_chunk:
        # One that came whole is told of without these.
        written = {"append": chunk.append, "lastChunk": chunk.last_chunk, "seq": artifact.writes}
        data |= {**written, "offset": offset}
    return {"metadata": {"partType": ARTIFACT.name}, "data": data}


def facts(artifact: Artifact) -> JsonObject:
    """What a part says of a file, whoever made the part."""
    data: JsonObject = {
        "artifactId": artifact.artifact_id,
        "mimeType": artifact.mime_type,
        "sizeBytes": artifact.size_bytes,
        "name": artifact.name,
        "url": reverse("envelopes:artifact", args=[artifact.artifact_id]),
    }
    if artifact.sha256:
        data["sha256"] = artifact.sha256
    if artifact.width:
        data |= {"width": artifact.width, "height": artifact.height}
    return data


def whole(session: Session, artifact_id: str) -> JsonObject | None:
    """End a file as it is, where that has not been done; returns the part that tells of it. Under the session's lock.
    Raises ``ValidationFailed`` for an unknown one."""
    artifact = found(session, artifact_id)
    if artifact.is_whole:
        return None
    _finish(artifact, list(artifact.pieces.all()), True)
    artifact.writes += 1
    artifact.save()
    return _part(artifact, Chunk(append=True, last_chunk=True), artifact.size_bytes)


def read(session: int, artifact_id: str) -> tuple[str, str, bytes]:
    """Name, media type and all bytes of a file of this session (primary key). Raises ``ValidationFailed`` for an
    unknown one."""
    artifact = found(session, artifact_id)
    with PiecesReader(list(artifact.pieces.all())) as file:
        return artifact.name, artifact.mime_type, file.readall()
