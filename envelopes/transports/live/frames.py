"""Frames of the live channel (reading, sections 1 and 2): those that come in are parsed, limited and checked, one model
a type; those that go out are built."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from envelopes.conf import conf
from envelopes.errors import TooLarge, ValidationFailed
from envelopes.protocol.encoding import encoded
from envelopes.protocol.strict_json import parse_strict
from envelopes.protocol.text import clean_json
from envelopes.transports.live.errors import LiveError
from envelopes.types import Json, JsonObject

CURSOR = 2**53
MOST_CATALOGS, MOST_VERSIONS = 64, 16
"""Catalogs that a reader may say it knows, and versions of A2UI that it may say it draws."""
Text = Annotated[str, Field(max_length=1_024)]
Name = Annotated[str, Field(min_length=1, max_length=128)]
RequestId = Annotated[str, Field(max_length=128)]


class _Payload(BaseModel):
    """What else comes along is ignored: receivers tolerate fields that they do not know (reading, section 4)."""

    model_config = ConfigDict(extra="ignore", strict=True)


class Subscribe(_Payload):
    """``instance``, ``view``, ``a2ui`` and ``catalogs`` are ours: what a client calls itself across its connections, by
    which repeats of its actions are known (D36); the view that its ``fromSeq`` counts in, as the last ack named it; the
    versions of A2UI that it draws, and the ids of the catalogs that it knows (None: it does not say)."""

    sessionId: Name
    appId: Name | None = None
    role: Literal["user", "agent"] | None = None
    fromSeq: Annotated[int, Field(ge=0, le=CURSOR)] | None = None
    sinceSequence: Any = None
    wsToken: Text | None = None
    supportedVersions: Annotated[list[Text], Field(max_length=32)] | None = None
    instance: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")] | None = None
    view: Text | None = None
    a2ui: Annotated[list[Text], Field(max_length=MOST_VERSIONS)] | None = None
    catalogs: Annotated[list[Text], Field(max_length=MOST_CATALOGS)] | None = None


class Action(_Payload):
    sessionId: str | None = None
    type: str
    payload: Any = None
    clientSeq: Annotated[int, Field(ge=0, le=CURSOR)] | None = None
    schemaVersion: Text | None = None


class ChannelSubscribe(_Payload):
    sessionId: Name
    appId: Name
    channelName: Name
    pollIntervalMs: Any = None
    args: dict[str, Any] | None = None


class ChannelUnsubscribe(_Payload):
    sessionId: Name
    appId: Name
    channelName: Name


class _Size(_Payload):
    width: float | None = None
    maxWidth: float | None = None
    height: float | None = None
    maxHeight: float | None = None


class _Abilities(_Payload):
    touch: bool | None = None
    hover: bool | None = None


class HostContext(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    availableDisplayModes: list[Literal["inline", "fullscreen", "pip"]] | None = None
    currentDisplayMode: Literal["inline", "fullscreen", "pip"] | None = None
    containerDimensions: _Size | None = None
    platform: Literal["web", "desktop", "mobile"] | None = None
    deviceCapabilities: _Abilities | None = None
    locale: Annotated[str, Field(min_length=1, max_length=35)] | None = None
    timeZone: Annotated[str, Field(min_length=1, max_length=64)] | None = None


class HostContextObserved(_Payload):
    sessionId: Name
    hostContext: HostContext


class Ping(_Payload):
    pass


TYPES: dict[str, type[_Payload]] = {
    "subscribe": Subscribe,
    "action": Action,
    "ping": Ping,
    "channel_subscribe": ChannelSubscribe,
    "channel_unsubscribe": ChannelUnsubscribe,
    "host_context_observed": HostContextObserved,
}
"""What a client may send."""


class Frame(BaseModel):
    """A frame whose payload is not looked at yet: its type decides whether it may come now at all."""

    model_config = ConfigDict(extra="ignore", strict=True)

    type: str
    payload: Any = None
    requestId: RequestId | None = None


def parse(text: str | None) -> Frame:
    """The frame in what a socket received. Raises ``LiveError``: INVALID_JSON, INVALID_MESSAGE, UNSUPPORTED_MESSAGE, in
    this order (reading, section 2), and ``TooLarge`` before them."""
    if text is None:
        raise LiveError("INVALID_MESSAGE", "Frames are text, not binary.")
    limit, size = conf.BEACH_FRAME_BYTES, len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise TooLarge(f"The frame has {size:,} bytes; at most {limit:,} are accepted.", limit=limit)
    try:
        # Before anything looks at it: JSON may hold text that no database and no other frame can carry.
        value = clean_json(parse_strict(text))
    except (ValidationFailed, RecursionError) as error:
        raise LiveError("INVALID_JSON", "This is no JSON.") from error
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise LiveError("INVALID_MESSAGE", "A frame is a JSON object with a type.")
    try:
        frame = Frame.model_validate(value)
    except ValidationError as error:
        raise LiveError(
            "INVALID_MESSAGE", "The requestId of a frame is a text of at most 128 characters."
        ) from error
    if frame.type not in TYPES:
        raise LiveError("UNSUPPORTED_MESSAGE", "That is not a type of frame that a client sends.")
    return frame


def payload(frame: Frame) -> _Payload:
    """The payload of a frame, checked. Raises ``LiveError`` INVALID_MESSAGE; the sentence repeats nothing that was
    sent."""
    given: Json = {} if frame.type == "ping" and frame.payload is None else frame.payload
    if not isinstance(given, dict):
        raise LiveError("INVALID_MESSAGE", "The payload of a frame is a JSON object.")
    try:
        return TYPES[frame.type].model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = "/".join(str(step) for step in first["loc"])
        raise LiveError(
            "INVALID_MESSAGE", f"{first['msg']} (at /{where}).", details={"path": f"/{where}"}
        ) from error


def request_id(text: str | None) -> str | None:
    """The ``requestId`` of a frame that could not be taken, as far as it can be read."""
    try:
        value = parse_strict(text or "")
    except (ValidationFailed, RecursionError):
        return None
    found = value.get("requestId") if isinstance(value, dict) else None
    return found if isinstance(found, str) and len(found) <= 128 else None


def frame(kind: str, payload: Json, request: str | None = None) -> str:
    """One frame as it goes out."""
    made: JsonObject = {"type": kind, "payload": payload}
    if request is not None:
        made["requestId"] = request
    return encoded(made)


def data(envelope: str, seq: int) -> str:
    """The frame of an envelope that lacks its number and its closing brace (``presenter``)."""
    return f'{{"type":"data","payload":{envelope},"seq":{seq}}}}}'


def now() -> int:
    """The server's clock, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
