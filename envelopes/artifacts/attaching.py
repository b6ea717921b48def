"""Files for transports that carry the bytes themselves, as mail does (envelope document, "Transport independence")."""

from __future__ import annotations

from base64 import b64encode

from envelopes.artifacts.reading import PiecesReader
from envelopes.models import Artifact, Session
from envelopes.types import JsonObject

ATTACHED_BYTES = 10 * 1024 * 1024
"""Of all files that go along with one envelope."""


def enclose(session: Session, parts: list[JsonObject]) -> None:
    """Put the bytes of files of ``session`` into the ``artifact`` parts that refer to them, as base64 under ``bytes``,
    in place of their ``url``. A file for which there is no room, or that is still being written, stays a link."""
    left = ATTACHED_BYTES
    for part in parts:
        data = part["data"]
        file = Artifact.objects.filter(session=session, artifact_id=data["artifactId"], is_whole=True).first()
        if file is None or file.size_bytes > left:
            continue
        left -= file.size_bytes
        with PiecesReader(list(file.pieces.all())) as reader:
            content = reader.readall()
        part["data"] = {key: value for key, value in data.items() if key != "url"} | {
            "bytes": b64encode(content).decode()
        }
