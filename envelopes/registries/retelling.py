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
    return f"[{_metadata(part).get('partType', 'part')} shown: {_shortened(part['data'])}]"


def nothing(part: JsonObject) -> str:
    """It was meant for the moment, or for somebody else."""
    return ""


def shown_data(part: JsonObject) -> str:
    return f"[Data shown, {_metadata(part).get('dataKind') or 'no kind'}: {_shortened(part.get('data'))}]"


def shown_file(part: JsonObject) -> str:
    data = _data(part)
    return f"[File shown: {data.get('name') or data.get('artifactId', '')}, {data.get('mimeType', '')}]"


def shown_source(part: JsonObject) -> str:
    return f"[Source shown: {_data(part).get('title', '')}]"


def asked(part: JsonObject) -> str:
    return f"[Asked for approval: {_metadata(part).get('question', '')}]"


def decided(part: JsonObject) -> str:
    data = _data(part)
    reason = f", reason: {data['reason']}" if data.get("reason") else ""
    return f"[Approval {data.get('decision', '')}{reason}]"


def _data(part: JsonObject) -> JsonObject:
    data = part.get("data")
    return data if isinstance(data, dict) else {}


def _metadata(part: JsonObject) -> JsonObject:
    metadata = part.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _shortened(data: object) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if len(text) > DATA_CHARACTERS:
        return f"{text[:DATA_CHARACTERS]} (cut: {len(text)} characters in all)"
    return text
