"""What each row means to whoever follows documents: an envelope with a patch, or none (reading 1.2, 7.4).

| event | of | data |
| --- | --- | --- |
| ``document`` | a document as it is, at the beginning and where it is replaced; or a patch of it | an a2ui envelope |
| ``closed`` | a surface that is gone | ``surface`` |
| ``submitted`` | a form that somebody sent | ``surface``, ``componentId``, ``values`` |
| ``message`` | what was said, what the system tells | a message envelope |

Messages have a stream of their own: no row is both.

The ``id`` of an event is its row: whoever sends the last one back goes on after it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from a2ui import SurfaceChange
from envelopes.errors import ValidationFailed
from envelopes.protocol.rows import Row
from envelopes.protocol.surfaces import messages_of
from envelopes.registries.transports import SessionFacts
from envelopes.transports.documents.formats.errors import DocumentError
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import apply, parse_patch, root_replacement
from envelopes.transports.documents.formats.submitted import submitted
from envelopes.transports.documents.outbound import message_of
from envelopes.transports.documents.shapes.common import canonical_id
from envelopes.types import Json, JsonObject


def event(name: str, data: Json, *, seq: int | None = None) -> str:
    """One event as it goes over the wire (HTML Living Standard, "Server-sent events")."""
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {name}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"


MESSAGE = "message"


def is_message(payload: str) -> bool:
    """Whether what the presenter made of a row is a message."""
    return payload.partition("\n")[2].startswith(f"event: {MESSAGE}\n")


class Documents:
    """Knows the documents that are shown, as they are, by whose they are and their surface."""

    busy = False

    def __init__(self, session_id: str, documents: dict[tuple[str, str], JsonObject]) -> None:
        self.session_id = session_id
        self._documents = documents

    @classmethod
    def of(cls, facts: SessionFacts, snapshot: Json | None) -> Documents:
        """At the beginning of a session, or as ``snapshot`` left it."""
        known = {(owner, surface): document for owner, surface, document in snapshot or ()}
        return cls(facts.session_id, known)

    def place(self, turn: int) -> None:
        """Text that is being written is of no document."""

    def snapshot(self) -> Json:
        """All of them."""
        return [[owner, surface, document] for (owner, surface), document in self._documents.items()]

    def whole(self, at: int) -> list[str]:
        """An event for each document, as it is at row ``at``: what whoever comes begins with."""
        return [
            event(
                "document",
                self._envelope(owner, surface, root_replacement(document).as_json(), 0, at),
                seq=at,
            )
            for (owner, surface), document in self._documents.items()
        ]

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> str | None:
        """What is sent of a row."""
        match row.kind:
            case "part":
                return self._part(row)
            case "action":
                return self._submitted(row)
            case _:
                return self._message(row)

    def _message(self, row: Row) -> str | None:
        told = message_of(self.session_id, row)
        return None if told is None else event(MESSAGE, told, seq=row.seq)

    def _part(self, row: Row) -> str | None:
        if (message := self._message(row)) is not None:
            return message
        data = row.data["part"].get("data")
        if not isinstance(data, dict):
            return None
        told = self._patched(row, data) if "document" in data else None
        closed = [] if told is not None else self._closed(row.actor, data)
        return told or "".join(event("closed", {"surface": one}, seq=row.seq) for one in closed) or None

    def _patched(self, row: Row, data: JsonObject) -> str | None:
        """What an agent's model may have written there is none of ours, and is passed over."""
        given: Any = data["document"]
        if not isinstance(given, dict) or not isinstance(surface := given.get("surface"), str):
            return None
        key = (row.actor, surface)
        if given.get("closed") is True:
            known = self._documents.pop(key, None) is not None
            return event("closed", {"surface": surface}, seq=row.seq) if known else None
        try:
            patch = parse_patch(given.get("patch"), DEFAULT_LIMITS)
            after = apply(self._documents.get(key), patch, DEFAULT_LIMITS)
            if normalise(after).document != after:
                return None
        except DocumentError:
            return None
        self._documents[key] = after
        at = int(row.at.timestamp() * 1_000)
        return event("document", self._envelope(*key, patch.as_json(), at, row.seq), seq=row.seq)

    def _closed(self, owner: str, data: JsonObject) -> list[str]:
        """The documents whose surface ends with these messages."""
        try:
            messages = messages_of(data)
        except ValidationFailed:
            return []
        gone = [message["deleteSurface"].get("surfaceId") for message in messages if _deletes(message)]
        return [name for name in gone if self._documents.pop((owner, name), None) is not None]

    def _submitted(self, row: Row) -> str | None:
        action = row.data["action"]
        document = self._documents.get((row.data["owner"], action.get("surfaceId")))
        if document is None:
            return None
        context = action.get("context")
        try:
            found = submitted(document, context if isinstance(context, dict) else {})
        except DocumentError:
            return None
        return event("submitted", {"surface": document["surface"], **found}, seq=row.seq)

    def _envelope(self, owner: str, surface: str, patch: JsonObject, at: int, seq: int) -> JsonObject:
        name = canonical_id(at, self.session_id, owner, surface, seq)
        return {"v": 1, "id": name, "surface": surface, "patch": patch}


def _deletes(message: JsonObject) -> bool:
    return isinstance(message.get("deleteSurface"), dict)
