"""``reasoning-trace``: how a model came to its answer (respond() document, "Envelope parts"; D10).

Its actor writes one, or its model's thinking becomes one, where ``BEACH_REASONING`` keeps that. It never leaves the
server; what staff read of it says the same setting.
"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes.conf import conf
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.payloads import Payload
from envelopes.registries import retelling
from envelopes.registries.part_types import ACTOR, PartType
from envelopes.registries.retelling import data_of
from envelopes.types import JsonObject


class ReasoningTrace(Payload):
    text: str | None = None
    blocks: list[dict[str, Any]] | None = None
    model: str = ""


def part(trace: JsonObject) -> Part:
    """The part for ``trace``, ``{text?, blocks?, model}``."""
    return Part(data=ReasoningTrace.model_validate(trace).model_dump(exclude_none=True), metadata=_METADATA)


def is_for_staff() -> bool:
    """Whether staff read it, and not only who reads the database."""
    return conf.BEACH_REASONING == "staff"


def is_kept() -> bool:
    """Whether it is stored at all."""
    return conf.BEACH_REASONING != "off"


def for_staff(data: JsonObject) -> JsonObject:
    """What staff read of the data of a row with such a part."""
    part = data.get("part")
    if is_for_staff() or not isinstance(part, dict):
        return data
    return {**data, "part": {"metadata": part.get("metadata"), "note": "Kept for audit (BEACH_REASONING)."}}


def _in_words(part: JsonObject) -> str:
    words = str(data_of(part).get("text") or part.get("text") or "")
    if is_for_staff():
        return _("Reasoning: {}").format(words or _("encrypted by the model’s provider"))
    count = len(words)
    return ngettext(
        "Reasoning, kept for audit ({} character).", "Reasoning, kept for audit ({} characters).", count
    ).format(f"{count:,}")


REASONING_TRACE = PartType(
    "reasoning-trace",
    ACTOR,
    "audit-only",
    "audit-only",
    data="optional",
    data_model=ReasoningTrace,
    canonical=True,
    retold=retelling.nothing,
    in_words=_in_words,
    for_staff=for_staff,
    kept=is_kept,
    description="why you decided so, for the log alone",
    example={"text": "The early flight meets the stated budget."},
    # The runtime makes it of what the model thinks.
    offered=lambda actor: False,
)

_METADATA = Metadata(partType=REASONING_TRACE.name)
