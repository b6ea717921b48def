"""``citation``: where a value of the data comes from (respond() document, "Envelope parts"; D10)."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import Field

from envelopes.protocol.payloads import Payload, Short
from envelopes.registries.part_types import ACTOR, PartType
from envelopes.registries.retelling import data_of
from envelopes.types import JsonObject


class Citation(Payload):
    path: Annotated[str, Field(max_length=1024)]
    title: Short
    url: Annotated[str, Field(max_length=4096)] | None = None
    quote: Annotated[str, Field(max_length=4096)] | None = None


def _retold(part: JsonObject) -> str:
    return f"[Source shown: {data_of(part).get('title', '')}]"


def _in_words(part: JsonObject) -> str:
    return _("Source: {}").format(data_of(part).get("title") or "")


CITATION = PartType(
    "citation",
    ACTOR,
    "flush",
    "once",
    data="required",
    data_model=Citation,
    canonical=True,
    retold=_retold,
    in_words=_in_words,
    description="the source of a value; path points to it in your domain data",
    example={"data": {"path": "/flights/0/price", "title": "Timetable", "url": "https://example.com/ej"}},
)
