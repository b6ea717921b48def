"""`formatDate`: ISO 8601 text and epoch milliseconds as a locale writes dates (rulebook 9.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any

from a2ui.functions.datepatterns import compile_pattern
from a2ui.functions.registry import Env, Function
from a2ui.safety.limits import Limits
from a2ui.safety.text import to_text

_ISO = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2})?)?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_CHARS = 64
_MAX_FORMAT_CHARS = 256
_USUAL_FORMAT_CHARS = 40
_CHAR_PRICE = 5
_ISO_FORMAT = "ISO"


def parse_date(value: Any) -> datetime | None:
    """The date of ISO 8601 text or of epoch milliseconds: aware if it names an instant, naive if it names a day or
    a wall-clock time. None for anything else, impossible dates included."""
    kind = type(value)
    if kind is str:
        return _parse_text(value) if len(value) <= _MAX_CHARS else None
    if kind is int or kind is float:
        try:
            return _EPOCH + timedelta(milliseconds=value)
        except (OverflowError, ValueError):
            return None
    return None


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> datetime | None:
    found = _ISO.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zulu, sign, offset_hours, offset_minutes = (
        found.groups()
    )
    zone: tzinfo | None = None
    try:
        if zulu:
            zone = UTC
        elif sign:
            offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes or 0))
            zone = timezone(-offset if sign == "-" else offset)
        micro = int((fraction or "0").ljust(6, "0")[:6])
        return datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micro, zone
        )
    except ValueError:
        return None


def iso_text(moment: datetime) -> str:
    """UTC with milliseconds and `Z`; naive values are taken as they are written."""
    utc = moment.astimezone(UTC) if moment.tzinfo else moment
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z".rjust(24, "0")


def _format_date(args: Mapping[str, Any], env: Env) -> str:
    moment = parse_date(args.get("value"))
    if moment is None:
        return ""
    pattern = to_text(args.get("format"))
    if len(pattern) > _MAX_FORMAT_CHARS:
        pattern = pattern[: _MAX_FORMAT_CHARS - 1] + "\N{HORIZONTAL ELLIPSIS}"
    try:
        if not pattern or pattern == _ISO_FORMAT:
            return iso_text(moment)
        if moment.tzinfo is not None:
            moment = moment.astimezone(env.timezone)
    except OverflowError:
        # The first or last day that exists, moved to another zone.
        return ""
    return "".join([field(moment) for field in compile_pattern(env.locale, pattern)])


def _price(args: Mapping[str, Any], limits: Limits, paid: set[str]) -> int:
    """Fields beyond those of any usual pattern, at what the dearest of them cost."""
    pattern = args.get("format")
    chars = min(len(pattern), _MAX_FORMAT_CHARS) if isinstance(pattern, str | list | dict) else 0
    return _CHAR_PRICE * max(0, chars - _USUAL_FORMAT_CHARS)


DATES = (Function("formatDate", _format_date, price=_price),)
