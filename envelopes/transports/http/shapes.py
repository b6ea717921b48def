"""What goes over HTTP, as JSON (envelope document; D1, D16)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field

from envelopes.protocol.respond import MAX_PARTS

JsonObject = dict[str, Any]


class _Strict(Schema):
    model_config = ConfigDict(extra="forbid")


class NewSession(_Strict):
    """A conversation to begin. Without an actor it is with the site's own."""

    actor: Annotated[str, Field(max_length=64)] = ""
    locale: Annotated[str, Field(max_length=35, description="A BCP 47 tag.")] = "en-US"
    timezone: Annotated[str, Field(max_length=64, description="An IANA name.")] = "UTC"


class SessionMade(Schema):
    """The name of a conversation in every address."""

    id: str


class NewMessage(_Strict):
    """Something that is said: a text, parts of types that may come in, or both.

    A part of type ``approval-response`` answers an approval, and comes alone. One of type ``artifact`` refers to a file
    of the conversation (``artifactId`` or ``url``) or of the web (``url``), or brings one: ``name``, ``mimeType`` and
    its ``bytes`` as base64.
    """

    text: str = ""
    parts: Annotated[list[JsonObject], Field(max_length=MAX_PARTS)] = []


class NewAction(_Strict):
    """A button of a surface, by the ids that its messages gave. ``owner`` is whose surface it is (the ``actor`` of its
    parts), by default the conversation's agent; ``itemPath`` where the data of its item is, inside of a template."""

    surfaceId: Annotated[str, Field(max_length=1000)]
    componentId: Annotated[str, Field(max_length=1000)]
    owner: Annotated[str, Field(max_length=64)] = ""
    itemPath: Annotated[str, Field(max_length=1000)] = ""


class Effect(_Strict):
    """What the caller is to do about a button that the agent does not hear of: ``{"openUrl": address}``, or nothing."""

    effect: JsonObject


class FileKept(Schema):
    """A file as a part of type ``artifact`` refers to it, in its ``data``."""

    artifactId: str
    mimeType: str
    sizeBytes: int
    name: str
    url: str
    sha256: str
    width: int | None = None
    height: int | None = None


class Decision(Schema):
    """The ``data`` of a part of type ``approval-response``. Who decides, and when, is known here: what a caller says of
    it is not read."""

    approvalId: str
    decision: Literal["granted", "denied"]
    reason: str | None = None


class Meta(Schema):
    """Where an envelope comes from. ``producedAt`` is RFC 3339; only that of a settled turn has ``finalizedBy``."""

    sessionId: str
    turnId: str
    producedAt: str
    finalizedBy: str | None = None


class Envelope(Schema):
    """What a settled turn said, in the shape of an A2A message."""

    role: Literal["agent"]
    parts: list[JsonObject]
    meta: Meta


class Pending(Schema):
    """A turn that is not settled. While it waits for a person (``suspended``), ``parts`` are what it has said so far,
    its questions among them; else there are none. ``url`` is where to ask again."""

    role: Literal["agent"] = "agent"
    parts: list[JsonObject] = []
    meta: Meta
    turnState: str
    url: str
