"""Parts as models of later turns read about them: in a line, in brackets where it is not what was said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

from envelopes.types import JsonObject

Retell: TypeAlias = Callable[[JsonObject], str]
"""What is told of a part of this type; empty for nothing."""

DATA_CHARACTERS = 2_000
"""How much of a part's data is told."""


def words(part: JsonObject) -> str:
    """Its text; of a part that has none, its data under the name of its type."""
    text = str(part.get("text") or "")
    if text.strip() or not part.get("data"):
        return text
    return f"[{metadata_of(part).get('partType', 'part')} shown: {shortened(part['data'])}]"


def nothing(part: JsonObject) -> str:
    """It was meant for the moment, or for somebody else."""
    return ""


def data_of(part: JsonObject) -> JsonObject:
    """Its data; of one that has none, an empty object."""
    data = part.get("data")
    return data if isinstance(data, dict) else {}


def metadata_of(part: JsonObject) -> JsonObject:
    """Its metadata; of one that has none, an empty object."""
    metadata = part.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def shortened(data: object) -> str:
    """``data`` as JSON, up to ``DATA_CHARACTERS`` of it; what is cut says so (R6)."""
    return cut(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def cut(text: str) -> str:
    """``text`` up to ``DATA_CHARACTERS`` of it; what is cut says so (R6)."""
    if len(text) > DATA_CHARACTERS:
        return f"{text[:DATA_CHARACTERS]} (cut: {len(text)} characters in all)"
    return text
