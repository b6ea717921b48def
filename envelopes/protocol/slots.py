"""What a piece of data is about, as its part says it: what is for one slot comes together (D11)."""

from __future__ import annotations

from envelopes.protocol.merging import Update, strategy_of
from envelopes.types import Json, JsonObject

Key = tuple[str, ...]


def key_of(metadata: JsonObject, turn: int) -> Key | None:
    """What data with these ``metadata`` converges with; None for data that stands alone.

    A slot key is the same thing in all turns of a session. A kind, and the id of a part (D8), are so within one turn:
    ``turn`` is the number of the first of those that go on with one another.
    """
    key, kind, part_id = (metadata.get(name) for name in ("slotKey", "dataKind", "partId"))
    if isinstance(key, str) and key:
        return ("slot", key)
    if isinstance(kind, str) and kind:
        return ("kind", str(turn), kind)
    return ("id", str(turn), part_id) if isinstance(part_id, str) else None


def slot_of(metadata: JsonObject) -> str:
    """What data with these ``metadata`` are about; empty where they do not say."""
    return str(metadata.get("slotKey") or metadata.get("dataKind") or "")


def data_of_result(result: Json) -> JsonObject:
    """What a tool has given as the data of a part, which are an object."""
    return result if isinstance(result, dict) else {"result": result}


def update_of(part: JsonObject) -> Update | None:
    """What a part of data says of its slot; None for one that holds none."""
    data, metadata = part.get("data"), part.get("metadata")
    if not isinstance(data, dict) or not isinstance(metadata, dict):
        return None
    return Update(data, strategy_of(metadata.get("mergeStrategy")))
