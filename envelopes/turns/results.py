"""Results of tools as a model reads them: whole up to a bound, then their beginning, and how to read on.

The whole of it is kept with the call, and goes wherever else it belongs: to the log, to whoever has its data.
"""

from __future__ import annotations

import json

from envelopes.conf import conf
from envelopes.providers.transcript import dumped
from envelopes.types import Json, JsonObject

READ_RESULT = "read_result"
"""The runtime's tool that gives more of one."""

STUB_CHARACTERS = 400
"""What is left of a result where there is no room for more."""

_HOW = f"Only the beginning of a long result. Read on with {READ_RESULT}, or ask the tool for less."
_KEYS = frozenset({"cut", "call", "characters", "next", "json"})


def bounded(call_id: str, content: Json) -> Json:
    """``content`` of the result of a call, or as much of it as a model reads at once (R6)."""
    text = dumped(content)
    most = conf.BEACH_RESULT_CHARACTERS
    return content if len(text) <= most else _cut(call_id, text, most, len(text))


def piece(text: str, start: int, room: int) -> str:
    """As much of ``text`` from ``start`` on as has ``room`` characters once it is written as JSON."""
    found = text[start : start + room]
    while len(written := json.dumps(found, ensure_ascii=False)) > room + 2:
        found = found[: len(found) * room // len(written)]
    return found


def shortened_block(block: JsonObject) -> JsonObject | None:
    """A ``tool_result`` block with a stub of its content; None for one that is hardly longer than that."""
    content = block["content"]
    text = content if isinstance(content, str) else dumped(content)
    if len(text) <= 2 * STUB_CHARACTERS:
        return None
    whole, characters = _whole(text)
    return {**block, "content": dumped(_cut(str(block["tool_use_id"]), whole, STUB_CHARACTERS, characters))}


def _cut(call_id: str, text: str, room: int, characters: int) -> JsonObject:
    """The beginning of a result whose JSON has so many ``characters``, of which ``text`` are the first."""
    shown = piece(text, 0, room)
    return {"cut": _HOW, "call": call_id, "characters": characters, "next": len(shown), "json": shown}


def _whole(text: str) -> tuple[str, int]:
    """What a result says, and how many characters that has in all: of one that was cut before, what it was cut from."""
    try:
        read = json.loads(text)
    except ValueError:
        return text, len(text)
    if isinstance(read, dict) and read.keys() == _KEYS:
        return str(read["json"]), int(read["characters"])
    return text, len(text)
