"""JSON as it goes out. Integers have no bound in JSON, nor in a surface's data model; the fast encoder stops at 64
bits, so whatever has longer ones goes the slow way."""

from __future__ import annotations

import json

import orjson

from envelopes.types import Json


def encoded(value: Json) -> str:
    """``value`` as JSON text, in one line."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decoded(text: str) -> Json:
    """What ``encoded`` made, integers of any length as they are: the fast decoder makes floats of longer ones."""
    value: Json = json.loads(text)
    return value
