"""Signatures of webhooks as Standard Webhooks has them, in the headers and in the envelope.

The headers sign the bytes of the body. The envelope's own signature (``replay_protection.signature``) is of the same
kind, by the envelope's id and time, and signs the RFC 8785 text of the envelope without it: it holds wherever the
envelope is kept or passed on.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import rfc8785
from standardwebhooks.webhooks import Webhook

from envelopes.types import JsonObject

SECRET_PREFIX = "whsec_"  # noqa: S105 - how every secret begins
SECRET_BYTES = 32


def new_secret() -> str:
    """A secret that two sides share."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def headers(secret: str, message_id: str, seconds: int, body: bytes) -> dict[str, str]:
    """The three headers of a webhook that is sent at ``seconds`` since 1970."""
    signature = Webhook(secret).sign(message_id, _moment(seconds), body.decode())
    return {"webhook-id": message_id, "webhook-timestamp": str(seconds), "webhook-signature": signature}


def signed(envelope: JsonObject, secret: str) -> JsonObject:
    """``envelope`` with its own signature."""
    protection = {**envelope["replay_protection"], "signature": _signature(envelope, secret)}
    return {**envelope, "replay_protection": protection}


def is_signed(envelope: JsonObject, secret: str) -> bool:
    """Whether the envelope's own signature is that of whoever knows ``secret``. What RFC 8785 has no text for (whole
    numbers beyond 2**53, half a surrogate pair) nobody can have signed."""
    given = envelope["replay_protection"].get("signature", "")
    try:
        return hmac.compare_digest(given.encode(), _signature(envelope, secret).encode())
    except (rfc8785.CanonicalizationError, UnicodeError):
        return False


def _signature(envelope: JsonObject, secret: str) -> str:
    protection = {key: value for key, value in envelope["replay_protection"].items() if key != "signature"}
    text = rfc8785.dumps({**envelope, "replay_protection": protection}).decode()
    seconds = protection["timestamp_unix_ms"] // 1_000
    return Webhook(secret).sign(envelope["id"], _moment(seconds), text)


def signature_in(given: Mapping[str, str], secret: str, body: bytes) -> bool:
    """Whether the headers sign these bytes. How old they are is not asked: the envelope says that too."""
    found = {name.lower(): value for name, value in given.items()}
    seconds = found.get("webhook-timestamp", "")
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 12):
        return False
    try:
        expected = headers(secret, found.get("webhook-id", ""), int(seconds), body)["webhook-signature"]
        signatures = found.get("webhook-signature", "").encode().split(b" ")
    except (OverflowError, OSError, ValueError):
        return False
    return any(hmac.compare_digest(one, expected.encode()) for one in signatures)


def is_secret(text: Any) -> bool:
    """Whether it is a secret that can sign."""
    if not isinstance(text, str) or not text.startswith(SECRET_PREFIX):
        return False
    try:
        return len(base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)) >= 24
    except binascii.Error:
        return False


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
