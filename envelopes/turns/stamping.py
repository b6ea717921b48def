"""What the actor's configuration says of data is stamped on its parts when their rows are written, so that every reader
finds it there, whatever that configuration is by then (protocol document, "Slot keys and merge strategy"; D11)."""

from __future__ import annotations

from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.parts import Metadata, Part
from envelopes.registries.actors import actors
from envelopes.registries.slots import slot_for
from envelopes.types import Json


def stamped(part: Part, actor: str) -> Part:
    """``part`` of ``actor`` with its slot and the strategy of that. A slot that the part names itself stands; how data
    comes together there is for the actor's configuration alone, whatever the part says. Not data: as it is."""
    if part.part_type != DOMAIN_DATA.name:
        return part
    known = actors.get(actor)
    named = part.metadata.slotKey or ""
    slot = slot_for(known.slots if known is not None else (), part.metadata.dataKind or "", named)
    key = named or (slot.key if slot is not None else "")
    strategy = slot.strategy if slot is not None else "replace" if key else None
    stamps = {"slotKey": key or None, "mergeStrategy": strategy}
    return part.model_copy(update={"metadata": part.metadata.model_copy(update=stamps)})


def data_part(kind: str, result: Json, actor: str) -> Part:
    """The result of a tool of ``actor`` that gives data of ``kind``, as a part."""
    data = result if isinstance(result, dict) else {"result": result}
    return stamped(Part(data=data, metadata=Metadata(partType=DOMAIN_DATA.name, dataKind=kind)), actor)
