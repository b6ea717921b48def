"""``artifact``: a file, by reference (respond() document, "Envelope parts"; D10)."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import Field

from envelopes.protocol.payloads import Payload, Short
from envelopes.registries.part_types import ANYONE, PartType
from envelopes.registries.retelling import data_of
from envelopes.types import JsonObject


class ArtifactRef(Payload):
    """``alt`` says what is to be seen. The runtime adds what it knows of a file that is kept here: its ``sha256``,
    ``width`` and ``height`` of a picture that pages show; and, of one that is written piece by piece, ``append`` and
    ``lastChunk`` as in A2A (TaskArtifactUpdateEvent), ``seq``, the number of the write, and ``offset``, where its bytes
    begin.
    """

    artifactId: Annotated[str, Field(min_length=1, max_length=128)]
    mimeType: Short
    sizeBytes: Annotated[int, Field(ge=0, le=2**53)]
    name: Short | None = None
    alt: Short | None = None
    url: Annotated[str, Field(max_length=4096)] | None = None


OF_A_WRITE = ("append", "lastChunk", "seq", "offset")
"""What a part says of one write of a file that is written piece by piece."""


def is_whole(data: JsonObject) -> bool:
    """Whether all of the file is there, as far as this part tells of it."""
    return data.get("lastChunk") is not False


def _retold(part: JsonObject) -> str:
    data = data_of(part)
    if not is_whole(data):
        # The part that ends it tells of all of it.
        return ""
    return f"[File shown: {data.get('name') or data.get('artifactId', '')}, {data.get('mimeType', '')}]"


def _in_words(part: JsonObject) -> str:
    data = data_of(part)
    return _("File {} ({}, {} bytes).").format(
        data.get("name") or data.get("artifactId", "?"),
        data.get("mimeType", "?"),
        data.get("sizeBytes", "?"),
    )


ARTIFACT = PartType(
    "artifact",
    ANYONE,
    "flush",
    "once",
    data="required",
    data_model=ArtifactRef,
    canonical=True,
    is_file=True,
    retold=_retold,
    in_words=_in_words,
    description="a file that a tool has stored",
    example={"data": {"artifactId": "a1", "mimeType": "application/pdf", "sizeBytes": 4096}},
)
