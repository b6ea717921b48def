"""``reasoning-trace``: how a model came to its answer (respond() document, "Envelope parts"; D10)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from envelopes.protocol.payloads import Payload
from envelopes.registries import retelling
from envelopes.registries.part_types import ACTOR, PartType
from envelopes.registries.retelling import data_of
from envelopes.types import JsonObject


class ReasoningTrace(Payload):
    text: str | None = None
    blocks: list[dict[str, Any]] | None = None
    model: str = ""


def _in_words(part: JsonObject) -> str:
    return _("Reasoning (audit only): {}").format(data_of(part).get("text") or _("see below"))


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
    description="why you decided so, for the log alone",
    example={"text": "The early flight meets the stated budget."},
)
