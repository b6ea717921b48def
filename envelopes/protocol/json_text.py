"""JSON as it goes out, fast, whatever numbers it holds."""

from __future__ import annotations

import json

import orjson

from envelopes.types import Json


def json_text(value: Json) -> str:
    """``value`` as JSON without spaces. Integers are of any length, as in the log: orjson takes 64 bits, and one that
    is longer must not keep a row from its readers."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
