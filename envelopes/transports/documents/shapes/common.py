"""What the envelopes have in common (reading 1.1): names, times, caps, and protection against replays."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from envelopes.types import JsonObject

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


class Closed(BaseModel):
    """A closed object; nothing is converted, so that "1" and ``true`` are no numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True, serialize_by_alias=True)


def _whole(value: Any) -> Any:
    # To Python, true and 1.0 are 1.
    if type(value) is not int:
        raise PydanticCustomError("int_type", "Input should be a whole number")
    return value


Version = Annotated[Literal[1], BeforeValidator(_whole)]
CanonicalId = Annotated[str, Field(pattern="^[0-9A-HJKMNP-TV-Z]{26}$", description="A ULID.")]


def _moment(text: str) -> str:
    if not _MOMENT.fullmatch(text):
        raise ValueError("this is no RFC 3339 date and time")
    datetime.fromisoformat(text.upper())
    return text


Moment = Annotated[str, AfterValidator(_moment), Field(json_schema_extra={"format": "date-time"})]


def canonical_id(milliseconds: int, *what: object) -> str:
    """A ULID that is the same for the same moment (milliseconds since 1970) and the same ``what``: whoever sends
    something again sends it by the same name."""
    random = hashlib.sha256("\0".join(map(str, what)).encode()).digest()[:10]
    number = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(random)
    return "".join(_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))


class ReplayProtection(Closed):
    """What makes an envelope good once and for a short time. ``signature``: see ``webhooks.signing``."""

    nonce: Annotated[str, Field(min_length=16, max_length=128)]
    timestamp_unix_ms: Annotated[int, Field(ge=0)]
    signature: Annotated[str, Field(max_length=4096)] | None = None


def envelope_schema(name: str, title: str) -> dict[str, Any]:
    """What every published schema says of itself."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"/schemas/{name}",
        "title": title,
    }


def without_nothing(model: BaseModel) -> JsonObject:
    """An envelope as JSON, without the members that it does not have."""
    return model.model_dump(mode="json", exclude_unset=True)
