"""Calls of functions between surfaces and agents, as sentences."""

from __future__ import annotations

from django.utils.translation import gettext as _

from envelopes.protocol.rows import Row
from envelopes.protocol.text import shorten
from envelopes.types import Json, JsonObject

_CHARACTERS = 120


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return shorten(value, _CHARACTERS) if isinstance(value, str) else ""


def called(row: Row) -> str:
    bodies = [_object(_object(message).get("callAgentFunction")) for message in row.data.get("messages", [])]
    # With their ids: what is said of an answer names the call by its own.
    names = [
        f"{_object(body.get('callFunction')).get('@call', '?')} ({body.get('functionCallId', '?')})"
        for body in bodies
    ]
    return _("Surface {} of {} asks the agent: {}.").format(
        row.data.get("surfaceId", "?"), row.data.get("owner", "?"), _text(", ".join(names))
    )


def answered(row: Row) -> str:
    body = _object(_object(row.data.get("message")).get("agentFunctionResponse"))
    call_id, error = body.get("functionCallId", "?"), _object(body.get("error"))
    if error:
        return _("Call {} failed ({}): {}").format(
            call_id, error.get("code", "?"), _text(error.get("message"))
        )
    return _("Call {} was answered.").format(call_id)


def responded(row: Row) -> str:
    body = _object(_object(row.data.get("message")).get("rendererFunctionResponse"))
    call_id, error = body.get("functionCallId", "?"), _object(body.get("error"))
    if error:
        return _("The agent’s call {} failed ({}).").format(call_id, error.get("code", "?"))
    return _("The agent’s call {} was answered.").format(call_id)
