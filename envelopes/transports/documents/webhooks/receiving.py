"""What whoever receives a webhook checks, in eleven steps whose order counts (reading 1.4): a nonce is used up only by
whoever has signed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol

from pydantic import TypeAdapter, ValidationError

from envelopes.transports.documents.formats.coercing import trim
from envelopes.transports.documents.formats.errors import InvalidInput, Reason
from envelopes.transports.documents.formats.strict import read_json
from envelopes.transports.documents.shapes.common import CanonicalId
from envelopes.transports.documents.shapes.webhook import ALIASES, NAME_CHARS, PROPERTIES, WEBHOOK_BYTES
from envelopes.transports.documents.webhooks import signing
from envelopes.types import JsonObject

WINDOW_MS = 300_000
"""How far the time of a webhook may be from that of whoever receives it."""

KEYS = ("v", "id", "event_type", "resource_id", "data", "replay_protection", "limits")
_PROTECTION = ("nonce", "timestamp_unix_ms", "signature")
_ID: TypeAdapter[str] = TypeAdapter(CanonicalId)


class Nonces(Protocol):
    """Which nonces have been used. Shared by all processes that receive."""

    def use(self, nonce: str, until: float) -> bool:
        """Use a nonce up, once; False where it has been. It has to be known until so many seconds since 1970."""


def check_webhook(raw: bytes, now: float) -> JsonObject:
    """Steps 1 to 10: the envelope that ``raw`` holds, by our names, at ``now`` seconds since 1970.

    Raises ``InvalidInput``: ``PayloadTooLarge``, ``InvalidJson``, ``NotAnObject``, ``MissingField``, ``InvalidType``,
    ``EmptyField`` and ``InvalidValue``, with the dotted name of the field as ``path``.
    """
    value = read_json(raw, limit=WEBHOOK_BYTES)
    if not isinstance(value, dict):
        raise InvalidInput("A webhook is an object.", reason="NotAnObject")
    envelope = _by_our_names(value)
    if "limits" in envelope:
        _check_limits(envelope["limits"], len(raw))
    version = _member(envelope, "v", int)
    if version != 1:
        _refuse("InvalidValue", "v", "has to be 1")
    _check_id(_member(envelope, "id", str))
    for name in ("event_type", "resource_id"):
        _check_name(_member(envelope, name, str), name)
    if len(_member(envelope, "data", dict)) > PROPERTIES:
        _refuse("InvalidValue", "data", f"has at most {PROPERTIES:,} members")
    _check_protection(_member(envelope, "replay_protection", dict), now)
    return envelope


def verify_webhook(
    raw: bytes, headers: Mapping[str, str], secret: str, nonces: Nonces, clock: Callable[[], float]
) -> JsonObject:
    """All eleven steps: the envelope that ``raw`` holds, which was sent by whoever knows ``secret``, now, and has not
    been received before.

    The signature is that of the envelope, and where it has none that of the headers of Standard Webhooks. Raises what
    ``check_webhook`` does; ``MissingField`` and ``InvalidValue`` on ``replay_protection.signature``, ``InvalidValue``
    on ``replay_protection.nonce`` for one that has been used.
    """
    envelope = check_webhook(raw, clock())
    protection = envelope["replay_protection"]
    if "signature" in protection:
        # As it was sent: its names are part of what is signed.
        good = signing.is_signed(read_json(raw, limit=WEBHOOK_BYTES), secret)
    elif any(name.lower() == "webhook-signature" for name in headers):
        good = signing.signature_in(headers, secret, raw)
    else:
        _refuse("MissingField", "replay_protection.signature", "is missing")
    if not good:
        _refuse("InvalidValue", "replay_protection.signature", "is not that of the sender")
    # Beyond that time step 10 refuses it, whatever its nonce.
    until = (protection["timestamp_unix_ms"] + WINDOW_MS) / 1_000
    if not nonces.use(protection["nonce"], until):
        _refuse("InvalidValue", "replay_protection.nonce", "has been used")
    return envelope


def _by_our_names(value: JsonObject) -> JsonObject:
    found: JsonObject = {}
    for name, member in value.items():
        known = ALIASES.get(name, name)
        if known not in KEYS or known in found:
            _refuse("InvalidValue", "envelope.additional_properties", f"has no {name[:64]!r} here")
        found[known] = member
    return found


def _check_limits(limits: Any, size: int) -> None:
    if not isinstance(limits, dict):
        _refuse("InvalidType", "limits", "has to be an object")
    if set(limits) - {"max_payload_bytes"}:
        _refuse("InvalidValue", "limits.additional_properties", "holds max_payload_bytes alone")
    if "max_payload_bytes" not in limits:
        return
    declared = limits["max_payload_bytes"]
    if type(declared) is not int or not 1 <= declared <= WEBHOOK_BYTES or declared < size:
        told = f"has to be 1 to {WEBHOOK_BYTES:,}, and not less than the {size:,} bytes that there are"
        _refuse("InvalidValue", "limits.max_payload_bytes", told)


def _check_id(value: str) -> None:
    try:
        _ID.validate_python(value, strict=True)
    except ValidationError:
        _refuse("InvalidValue", "id", "has to be a ULID")


def _check_name(value: str, name: str) -> None:
    if not trim(value):
        _refuse("EmptyField", name, "is blank")
    if len(value) > NAME_CHARS:
        _refuse("InvalidValue", name, f"has at most {NAME_CHARS} characters")


def _check_protection(protection: JsonObject, now: float) -> None:
    if set(protection).difference(_PROTECTION):
        _refuse("InvalidValue", "replay_protection.additional_properties", "has a member that nobody knows")
    nonce = _member(protection, "nonce", str, "replay_protection.")
    if not 16 <= len(nonce) <= 128:
        _refuse("InvalidValue", "replay_protection.nonce", "has 16 to 128 characters")
    sent = _member(protection, "timestamp_unix_ms", int, "replay_protection.")
    if abs(sent - now * 1_000) > WINDOW_MS:
        _refuse("InvalidValue", "replay_protection.timestamp_unix_ms", "is more than five minutes from now")
    if len(_member({"signature": "", **protection}, "signature", str, "replay_protection.")) > 4_096:
        _refuse("InvalidValue", "replay_protection.signature", "is too long")


def _member(value: JsonObject, name: str, kind: type, above: str = "") -> Any:
    if name not in value:
        _refuse("MissingField", above + name, "is missing")
    if type(value[name]) is not kind:
        words = {int: "a whole number", str: "text", dict: "an object"}
        _refuse("InvalidType", above + name, f"has to be {words[kind]}")
    return value[name]


def _refuse(reason: Reason, path: str, told: str) -> NoReturn:
    raise InvalidInput(f"{path} {told}.", reason=reason, path=path)
