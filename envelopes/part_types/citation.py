"""``citation``: where a value of the data comes from (respond() document, "Envelope parts"; D10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from pydantic import RootModel

from envelopes.protocol.text import shorten
from envelopes.registries.part_types import ACTOR, PartType
from envelopes.registries.retelling import data_of, metadata_of
from envelopes.types import JsonObject


class Citation(RootModel[dict[str, Any]]):
    """``{path, title, url?, quote?}``. Any object is taken, since a source that cannot be read must not cost what was
    said beside it; ``cited`` reads what is there."""


@dataclass(frozen=True)
class Cited:
    """What a citation says. ``path`` is a JSON Pointer (RFC 6901) into data of its turn, None where it gives none;
    ``slot`` names the data, where it does (D11)."""

    path: str | None
    title: str
    url: str
    quote: str
    slot: str

    @property
    def source(self) -> str:
        """What makes two citations ones of the same source; empty for none that could be told."""
        return self.url or self.title


def cited(part: JsonObject) -> Cited:
    """``part`` as far as it can be read: what is no text counts as not given, and long texts are cut (R6)."""
    data, metadata = data_of(part), metadata_of(part)

    def text(name: str, most: int) -> str:
        value = data.get(name)
        return shorten(value.strip(), most) if isinstance(value, str) else ""

    url, path = data.get("url"), data.get("path")
    slot = metadata.get("slotKey") or metadata.get("dataKind")
    title = text("title", 512)
    if not title and isinstance(part.get("text"), str):
        title = shorten(part["text"].strip(), 512)
    return Cited(
        path if isinstance(path, str) else None,
        title,
        url.strip() if isinstance(url, str) else "",
        text("quote", 4096),
        slot if isinstance(slot, str) else "",
    )


def _retold(part: JsonObject) -> str:
    said = cited(part)
    return f"[Source shown: {said.title or said.url}]"


def _in_words(part: JsonObject) -> str:
    said = cited(part)
    return _("Source: {}").format(said.title or said.url or said.quote or "?")


_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("path", "title", "url", "quote")},
    "required": ["path", "title"],
}

CITATION = PartType(
    "citation",
    ACTOR,
    "flush",
    "once",
    data="optional",
    data_model=Citation,
    canonical=True,
    retold=_retold,
    in_words=_in_words,
    description="the source of a value; path points to it in your domain data",
    example={"data": {"path": "/flights/0/price", "title": "Timetable", "url": "https://example.com/ej"}},
    data_schema=lambda: _SCHEMA,
)
