"""What the actor's configuration says of data is stamped on its parts when their rows are written, so that every reader
finds it there, whatever that configuration is by then (protocol document, "Slot keys and merge strategy"; D11)."""

from __future__ import annotations

from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.slots import data_of_result
from envelopes.registries.actors import actors
from envelopes.registries.slots import Slot, slot_for
from envelopes.types import Json


def stamped(part: Part, actor: str) -> Part:
    """``part`` of ``actor`` with its slot and the strategy of that. A slot that the part names itself stands; how data
    comes together there is for the actor's configuration alone, whatever the part says. Not data: as it is."""
    if part.part_type != DOMAIN_DATA.name:
        return part
    named = part.metadata.slotKey or ""
    slot = _slot(part, actor)
    key = named or (slot.key if slot is not None else "")
    strategy = slot.strategy if slot is not None else "replace" if key else None
    stamps = {"slotKey": key or None, "mergeStrategy": strategy}
    return part.model_copy(update={"metadata": part.metadata.model_copy(update=stamps)})


def awaits_card(part: Part, actor: str) -> bool:
    """Whether ``actor`` shows such data by an interface of its own."""
    slot = _slot(part, actor) if part.part_type == DOMAIN_DATA.name else None
    return slot is not None and slot.own_card


def _slot(part: Part, actor: str) -> Slot | None:
    known = actors.get(actor)
    slots = known.slots if known is not None else ()
    return slot_for(slots, part.metadata.dataKind or "", part.metadata.slotKey or "") if slots else None


def data_part(kind: str, result: Json, actor: str) -> Part:
    """The result of a tool of ``actor`` that gives data of ``kind``, as a part."""
    return stamped(
        Part(data=data_of_result(result), metadata=Metadata(partType=DOMAIN_DATA.name, dataKind=kind)), actor
    )
