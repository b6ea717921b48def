"""The values of ``format`` that schemas of a contract may use; each is asserted (7.3)."""

from __future__ import annotations

import re
from datetime import date, time
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final
from uuid import UUID

from jsonschema import FormatChecker

_TIME = re.compile(
    r"(\d\d):(\d\d):(\d\d)(\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII | re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_EMAIL = re.compile(r"[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+")
_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)", re.ASCII)
# RFC 3986: a scheme, and only characters that may stand in an address.
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+", re.ASCII
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)

FORMATS: Final = FormatChecker(formats=())
"""Knows only what is below, whatever is installed."""


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = (int(found[group]) for group in (1, 2, 3))
    try:
        # A leap second is one (RFC 3339, 5.6).
        time(hour, minute, min(second, 59))
    except ValueError:
        return False
    return second <= 60


def _is_date_time(text: str) -> bool:
    return len(text) > 11 and text[10] in "Tt" and _is_date(text[:10]) and _is_time(text[11:])


def _is_hostname(text: str) -> bool:
    return len(text) <= 253 and all(_LABEL.fullmatch(label) for label in text.split("."))


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _is_ipv6(text: str) -> bool:
    try:
        return "%" not in text and IPv6Address(text) is not None
    except AddressValueError:
        return False


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None and UUID(text) is not None


_CHECKS = {
    "date": _is_date,
    "date-time": _is_date_time,
    "email": lambda text: len(text) <= 320 and _EMAIL.fullmatch(text) is not None,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "time": _is_time,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "uuid": _is_uuid,
}

for _name, _check in _CHECKS.items():
    FORMATS.checks(_name)(lambda value, check=_check: not isinstance(value, str) or check(value))

KNOWN_FORMATS: Final = tuple(sorted(_CHECKS))
