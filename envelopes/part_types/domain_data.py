"""``domain-data``: the raw data of an answer (envelope document, "The canonical three")."""

from __future__ import annotations

from django.utils.translation import gettext as _

from envelopes.protocol.text import shorten
from envelopes.registries.part_types import ANYONE, PartType
from envelopes.registries.retelling import data_of, metadata_of, shortened
from envelopes.types import JsonObject


def _retold(part: JsonObject) -> str:
    return f"[Data shown, {metadata_of(part).get('dataKind') or 'no kind'}: {shortened(part.get('data'))}]"


def _in_words(part: JsonObject) -> str:
    metadata = metadata_of(part)
    keys = shorten(", ".join(data_of(part)), 120) or _("nothing")
    kind = metadata.get("slotKey") or metadata.get("dataKind")
    return _("Data for {}: {}.").format(kind, keys) if kind else _("Data: {}.").format(keys)


DOMAIN_DATA = PartType(
    "domain-data",
    ANYONE,
    "once",
    "once",
    data="required",
    canonical=True,
    retold=_retold,
    in_words=_in_words,
    description="the raw result; of what kind it is stands in dataKind",
    example={"data": {"flights": [{"number": "EJ4521", "price": 94}]}, "metadata": {"dataKind": "flights"}},
)
