"""Frames of the panel's socket (docs/architecture.md): a browser's are parsed, limited and checked, one model per type;
what a follower hands on is encoded, once for everybody who watches."""

from __future__ import annotations

import re
import time
from itertools import islice
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError

import a2ui
from envelopes.conf import conf
from envelopes.delivery.items import Item, Seen, UpToDate
from envelopes.delivery.streamed import PlacedDelta
from envelopes.errors import TooLarge, ValidationFailed
from envelopes.protocol.strict_json import parse_strict
from envelopes.protocol.targets import target_of
from envelopes.protocol.text import clean_json
from envelopes.transports.panel.presenter.drawers import is_note

MessageId = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
Target = Annotated[a2ui.Target, PlainValidator(target_of)]


class _Frame(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Hello(_Frame):
    """The first frame of every connection: the last row that the page shows, and its mark, where the page knows it."""

    type: Literal["hello"]
    after: Annotated[int, Field(ge=0, le=2**53)]
    mark: Annotated[int, Field(ge=0, lt=1_000_000)] | None = None


MAX_FILES = 10
"""That go along with one message."""


class Message(_Frame):
    """``files`` are those of this conversation that go along, by the ids under which they were kept before."""

    type: Literal["message"]
    id: MessageId
    text: str
    files: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=MAX_FILES)] = []


class Edit(_Frame):
    type: Literal["edit"]
    id: MessageId
    target: Target
    value: Any


class Action(_Frame):
    type: Literal["action"]
    id: MessageId
    target: Target


class Show(_Frame):
    """More of what is shown only in part: of the list with that DOM id, or of the conversation (``gap``)."""

    type: Literal["show"]
    id: MessageId
    target: Target

    @property
    def gap(self) -> tuple[int, int, int] | None:
        """Where ``target`` is "gA-B-N": the numbers of the blocks above and below what is left out, and that of its
        DOM id."""
        found = _GAP.fullmatch(self.target) if isinstance(self.target, str) else None
        return (int(found[1]), int(found[2]), int(found[3])) if found is not None else None


_GAP = re.compile(r"g([0-9]{1,15})-([0-9]{1,15})-([0-9]{1,15})")


class Decide(_Frame):
    """A decision and its reason. Whatever else comes along is ignored, and logged where it is decided (D20)."""

    model_config = ConfigDict(extra="allow", strict=True)

    type: Literal["decide"]
    id: MessageId
    approval: Annotated[str, Field(min_length=1, max_length=64)]
    decision: Literal["granted", "denied"]
    reason: Annotated[str, Field(max_length=512)] = ""


class Stop(_Frame):
    type: Literal["stop"]
    id: MessageId


class Ping(_Frame):
    type: Literal["ping"]


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[][{}:,]', re.DOTALL)
_TOKENS = 4_000
_ID = re.compile(r'"([A-Za-z0-9_-]{1,64})"')


def readable_id(text: str | None) -> str | None:
    """The ``id`` of a frame that was not parsed: too large, too many, or not quite JSON. None where there is none among
    the first tokens; a text counts as one, however long, so the cost is that of passing over it once."""
    depth = 0
    key = word = ""
    for found in islice(_TOKEN.finditer(text or ""), _TOKENS):
        match found[0]:
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
            case ":":
                key = word if depth == 1 else ""
            case ",":
                key = ""
            case value if key == '"id"' and depth == 1:
                named = _ID.fullmatch(value)
                return named[1] if named else None
        word = found[0] if len(found[0]) <= 4 else ""
    return None


ClientFrame = Hello | Message | Edit | Action | Show | Decide | Stop | Ping
_frames: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])


def parse_frame(text: str | None, raw: bytes | None) -> ClientFrame:
    """The frame in what a socket received.

    Raises ``ValidationFailed`` (not text, not JSON, no object, unknown type, wrong fields; ``id`` among the facts
    where the frame had one) and ``TooLarge``. The sentence never repeats what was sent.
    """
    if text is None:
        raise ValidationFailed("Frames are text, not binary.")
    limit = conf.BEACH_FRAME_BYTES
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > limit:
        raise TooLarge(f"The frame has {size:,} bytes; at most {limit:,} are accepted.", limit=limit)
    # Before anything looks at it: JSON may hold text that no database and no other frame can carry.
    value = clean_json(parse_strict(text))
    if not isinstance(value, dict):
        raise ValidationFailed("A frame is a JSON object.")
    try:
        return _frames.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = "/".join(str(step) for step in first["loc"][1:]) or "type"
        name = value.get("id")
        facts = {"id": name} if isinstance(name, str) and len(name) <= 64 else {}
        if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
            raise ValidationFailed("That is not a type of frame.", path="/type", **facts) from error
        raise ValidationFailed(f"{first['msg']} (at /{where}).", path=f"/{where}", **facts) from error


def more(frame: Show, seen: Seen) -> str:
    """The acknowledgement that brings what was asked for, as it is at row ``seq``: applied as the frame of a row is, to
    a page that has that row."""
    told = {
        "type": "ack",
        "id": frame.id,
        "seq": seen.seq,
        "prev": seen.seq,
        "ops": seen.made,
        "busy": seen.busy,
    }
    return orjson.dumps(told).decode()


def encode(item: Item) -> str:
    """The frame for one item of the log."""
    match item:
        case PlacedDelta():
            return item.delta.encoded(f"panel {item.place}", lambda: _delta(item))
        case UpToDate():
            now = time.time_ns() // 1_000_000
            frame = {"type": "welcome", "seq": item.seq, "busy": item.busy, "now": now}
            if item.mark is not None:
                frame["mark"] = item.mark
            return orjson.dumps(frame).decode()
        case _:
            return item.payload


def encode_drawn(text: PlacedDelta, drawn: str) -> str:
    """The frame for text of which ``drawn`` (a JSON object) is what ``drawings`` made."""
    into = orjson.dumps(text.place).decode()
    return text.delta.encoded(f"panel {text.place}", lambda: f'{{"type":"delta","into":{into},{drawn[1:]}')


def _delta(text: PlacedDelta) -> str:
    frame = {"type": "delta", "into": text.place, **text.delta.as_json()}
    if is_note(text.delta.part_type):
        # The piece of the page (templates/panel/pieces.html) that it is written into.
        frame["piece"] = "typing"
    return orjson.dumps(frame).decode()
