"""The message envelope: what somebody said, or what the system tells (seed 003; reading 1.3).

The outer names are the seed's, ``timestamp`` and ``payload``. Of the repository's form ``ts`` is read as well, and
``origin``, ``content`` and ``security`` beside them in place of ``payload``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, model_validator

from envelopes.transports.documents.shapes.common import (
    CanonicalId,
    Closed,
    Moment,
    ReplayProtection,
    Version,
    envelope_schema,
)

MESSAGE_BYTES = 1_048_576
ATTACHMENT_BYTES = 104_857_600
ATTACHMENTS = 32
TEXT_CHARS = 32_768
NAME_CHARS = 128
_INNER = ("origin", "content", "security")


class Sender(Closed):
    """Who said it, as its channel knows them."""

    display: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    handle: Annotated[str, Field(max_length=NAME_CHARS)] = ""
    verified: bool = False


class MessageOrigin(Closed):
    """Where it was said. ``conversation_id`` is the public id of a conversation."""

    type: Literal["channel", "web", "cli", "node", "system"]
    channel: Annotated[str, Field(max_length=128)] = ""
    conversation_id: Annotated[str, Field(max_length=256)] = ""
    sender: Sender | None = None


class Attachment(Closed):
    """A file that the conversation has already, by its id in capitals."""

    kind: Literal["image", "file", "audio", "video"]
    artifact_id: CanonicalId
    size_bytes: Annotated[int, Field(ge=0, le=ATTACHMENT_BYTES)] | None = None


class Content(Closed):
    """The words, and files."""

    text: Annotated[str, Field(max_length=TEXT_CHARS)]
    attachments: Annotated[list[Attachment], Field(max_length=ATTACHMENTS)] = []


class Provenance(Closed):
    """Where the content is from."""

    url: Annotated[str, Field(max_length=2_048)] = ""
    hash: Annotated[str, Field(max_length=256)] = ""


class Security(Closed):
    """How far to trust the content, by the word of whoever sends it."""

    trust: Literal["untrusted", "user-trusted", "system"]
    labels: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=32)] = []
    provenance: Provenance | None = None
    replay_protection: ReplayProtection | None = None


class MessagePayload(Closed):
    """What the envelope is about."""

    origin: MessageOrigin
    content: Content
    security: Security


class MessageLimits(Closed):
    """How large the envelope may be, by its own word."""

    max_payload_bytes: Annotated[int, Field(ge=1, le=MESSAGE_BYTES)]


class MessageEnvelope(Closed):
    """A message or a notification of the system."""

    v: Version
    id: CanonicalId
    timestamp: Annotated[Moment, Field(validation_alias=AliasChoices("timestamp", "ts"))]
    payload: MessagePayload
    limits: MessageLimits

    model_config = {"json_schema_extra": envelope_schema("message-envelope.v1.json", "Message envelope")}

    @model_validator(mode="before")
    @classmethod
    def _one_form(cls, given: Any) -> Any:
        """The members of ``payload`` where they stand beside it; both at once stay, and are refused."""
        if not isinstance(given, dict) or "payload" in given or not any(name in given for name in _INNER):
            return given
        outer = {name: value for name, value in given.items() if name not in _INNER}
        return {**outer, "payload": {name: given[name] for name in _INNER if name in given}}
