"""What a conversation tells by message envelopes: what was said in it, and what the system has to tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from envelopes.part_types.artifact import ARTIFACT
from envelopes.protocol.rows import Row
from envelopes.protocol.text import clip
from envelopes.protocol.time import instant
from envelopes.transports.documents.shapes.common import canonical_id
from envelopes.transports.documents.shapes.message import ATTACHMENTS, MESSAGE_BYTES, NAME_CHARS, TEXT_CHARS
from envelopes.transports.documents.webhooks.events import Told, event_of
from envelopes.types import JsonObject

NOTIFIED = frozenset({"approval.waiting", "turn.failed"})
"""Events that the system tells among what is said."""

CLOSED = "session.closed"
"""Told to a reader who may read the conversation no longer: nothing else ends one."""


def message_of(session_id: str, row: Row) -> JsonObject | None:
    """The envelope of a row; None for most."""
    told = event_of(session_id, row)
    if told is not None and told.type in NOTIFIED:
        return of_event(session_id, row, told)
    match row.kind:
        case "message":
            sender, trust = str(row.data["name"]), "user-trusted"
            text, parts = str(row.data["text"]), row.data.get("parts") or []
        case "part":
            part = row.data["part"]
            sender, trust, text, parts = row.actor, "untrusted", str(part.get("text") or ""), [part]
        case _:
            return None
    attachments = list(_attachments(parts))[:ATTACHMENTS]
    if not text and not attachments:
        return None
    content: JsonObject = {"text": clip(text, TEXT_CHARS)}
    if attachments:
        content["attachments"] = attachments
    origin = {
        "type": "web" if row.kind == "message" else "node",
        "conversation_id": session_id,
        "sender": {"display": clip(sender, NAME_CHARS)},
    }
    return _envelope(session_id, row.seq, row.at, "said", origin, content, {"trust": trust})


def of_event(session_id: str, row: Row, told: Told) -> JsonObject:
    """What the system tells of an event."""
    return notification(session_id, row.seq, row.at, told.type, told.text)


def notification(session_id: str, seq: int, at: datetime, kind: str, text: str) -> JsonObject:
    """What the system tells of row ``seq`` of a conversation; ``kind`` is its label."""
    origin = {"type": "system", "conversation_id": session_id}
    security = {"trust": "system", "labels": [kind]}
    return _envelope(session_id, seq, at, kind, origin, {"text": text}, security)


def _envelope(
    session_id: str,
    seq: int,
    at: datetime,
    kind: str,
    origin: JsonObject,
    content: JsonObject,
    security: JsonObject,
) -> JsonObject:
    return {
        "v": 1,
        "id": canonical_id(int(at.timestamp() * 1_000), session_id, seq, "message", kind),
        "timestamp": instant(at),
        "payload": {"origin": origin, "content": content, "security": security},
        "limits": {"max_payload_bytes": MESSAGE_BYTES},
    }


def _attachments(parts: Iterable[Any]) -> Iterable[JsonObject]:
    for part in parts:
        data = part.get("data")
        if part.get("metadata", {}).get("partType") != ARTIFACT.name or not isinstance(data, dict):
            continue
        kind = str(data.get("mimeType", "")).partition("/")[0]
        yield {
            "kind": kind if kind in ("image", "audio", "video") else "file",
            # Public ids are ULIDs in small letters.
            "artifact_id": str(data["artifactId"]).upper(),
        }
