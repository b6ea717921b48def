"""What binds an approval to one exact call: SHA-256 over the RFC 8785 form of tool and arguments (D53)."""

from __future__ import annotations

import hashlib

import rfc8785

from envelopes.errors import ValidationFailed
from envelopes.types import JsonObject


def call_digest(tool: str, args: JsonObject) -> str:
    """64 hex digits. Equal for equal JSON values, however they are spelt (``40`` and ``40.0``, key order).

    Raises ``ValidationFailed`` for numbers that RFC 8785 cannot carry exactly.
    """
    try:
        return hashlib.sha256(rfc8785.dumps({"args": args, "tool": tool})).hexdigest()
    except rfc8785.CanonicalizationError as error:
        raise ValidationFailed(f"These arguments cannot be written canonically: {error}.") from error
