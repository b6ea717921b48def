"""Files that come in with a message, as base64 under ``bytes`` (the form of A2A's FileWithBytes): kept, and referred to
by what its row holds."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from envelopes import artifacts
from envelopes.errors import ValidationFailed
from envelopes.models import Session
from envelopes.protocol.respond import MAX_PARTS
from envelopes.registries.part_types import part_types
from envelopes.types import Json, JsonObject


@dataclass(frozen=True)
class Upload:
    """A file whose bytes are in the storage, and no row yet."""

    chunk: artifacts.Chunk
    stored: artifacts.Stored

    def recorded(self, session: Session, owner: str) -> JsonObject:
        """Store its rows, under the lock of ``session``; the part that refers to it. Raises ``TooLarge``."""
        return artifacts.begin(session, owner, self.chunk, self.stored)


@contextmanager
def uploads(session: Session, raw: Sequence[Json]) -> Iterator[dict[int, Upload]]:
    """The parts of ``raw`` that bring bytes, by number. Those that were not ``recorded`` when the block ends are gone.

    Raises ``ValidationFailed`` for what is no base64, or comes with a file that is kept already, and ``TooLarge``.
    """
    with ExitStack() as held:
        found: dict[int, Upload] = {}
        for number, value in enumerate(raw[:MAX_PARTS]):
            data = _bringing(value)
            if data is None:
                continue
            content = _decoded(data, f"/parts/{number}/data")
            stored = held.enter_context(artifacts.stored(session.public_id, content))
            chunk = artifacts.Chunk(
                name=_text(data.get("name")),
                mime_type=_text(data.get("mimeType")),
                alt=_text(data.get("alt")),
                last_chunk=True,
            )
            found[number] = Upload(chunk, stored)
        yield found


def _bringing(value: Json) -> JsonObject | None:
    """The data of a part that brings bytes."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("partType") if isinstance(metadata, dict) else None
    kind = part_types.get(name) if isinstance(name, str) else None
    data = value.get("data") if isinstance(value, dict) else None
    brings = kind is not None and kind.is_file and isinstance(data, dict) and "bytes" in data
    return data if brings else None


def _decoded(data: JsonObject, path: str) -> bytes:
    given = data["bytes"]
    for other in ("artifactId", "url"):
        if data.get(other):
            raise ValidationFailed(f"A file comes as bytes or by {other}, not both.", path=f"{path}/{other}")
    if not isinstance(given, str):
        raise ValidationFailed("The bytes of a file are base64.", path=f"{path}/bytes")
    artifacts.check_size(len(given) * 3 // 4 - given[-2:].count("="))
    try:
        return b64decode(given, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValidationFailed(
            "The bytes of a file are base64 (RFC 4648, section 4).", path=f"{path}/bytes"
        ) from error


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
