"""Errors as the live channel tells them: a code in capitals, a sentence, details (reading, 9.2)."""

from __future__ import annotations

from envelopes.errors import BeachError
from envelopes.types import Json, JsonObject


class LiveError(BeachError):
    """This cannot be done on the live channel."""

    fault = "client"

    def __init__(self, code: str, message: str, *, details: Json = None, **top: Json) -> None:
        """``top`` stands beside code and message as well."""
        super().__init__(message)
        self.code = code
        self.details = details
        self.top: JsonObject = top


_WORDS = {
    "not_found": "SESSION_NOT_FOUND",
    "VALIDATION_FAILED": "INVALID_MESSAGE",
    "too_often": "RATE_LIMIT_EXCEEDED",
    "too_fast": "RATE_LIMIT_EXCEEDED",
    "too_many_messages": "RATE_LIMIT_EXCEEDED",
    "day_cost_reached": "RATE_LIMIT_EXCEEDED",
    "person_cost_reached": "RATE_LIMIT_EXCEEDED",
    "address_cost_reached": "RATE_LIMIT_EXCEEDED",
}
"""The channel's own words for what doors call otherwise; any other code goes in capitals: the set is open."""


def payload_of(error: BeachError) -> JsonObject:
    """The payload of an error frame: ``{code, message, details?}``, and what stands beside them."""
    if isinstance(error, LiveError):
        details = error.details
        return {
            "code": error.code,
            "message": error.message,
            **({} if details is None else {"details": details}),
            **error.top,
        }
    told: JsonObject = {"code": _WORDS.get(error.code, error.code.upper()), "message": error.message}
    facts = {**error.facts, "retry": True} if error.passing else error.facts
    return {**told, "details": facts} if facts else told
