"""Values of obscured fields: replaced by a handle before anything is stored, resolved only for checks and in tools.

A handle is ``{"$secret": "<token>"}``. The value sits encrypted in a short-lived table; the key comes from Django's
``SECRET_KEY`` (and its fallbacks, so that a rotation does not lose what was just typed).
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import timedelta
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils import timezone

from envelopes.conf import conf
from envelopes.models import Session
from envelopes.models.ids import public_id
from envelopes.models.secret import Secret
from envelopes.types import Json, JsonObject

HANDLE = "$secret"

PURGED_AT_ONCE = 1_000
"""In one transaction: whoever wants to write meanwhile waits for it."""


def seal(session: Session, value: Json) -> JsonObject:
    """Store ``value`` encrypted, as text or as the text of its JSON; returns its handle."""
    typed = value if isinstance(value, str) else json.dumps(value)
    secret = Secret.objects.create(
        token=public_id(),
        session=session,
        ciphertext=_cipher().encrypt(typed.encode("utf-8", "replace")).decode(),
        expires_at=timezone.now() + timedelta(seconds=conf.BEACH_SECRET_SECONDS),
    )
    return {HANDLE: secret.token}


def reveal(handle: Json, *, session: int | None = None) -> str | None:
    """The value behind a handle; None when it is no handle, unknown, or expired, and with the primary key of a
    ``session``, when it was not typed there: a program can send a handle that it has seen elsewhere."""
    token = handle.get(HANDLE) if isinstance(handle, dict) else None
    if not isinstance(token, str):
        return None
    secret = Secret.objects.filter(token=token, expires_at__gt=timezone.now()).first()
    if secret is None or session not in (None, secret.session_id):
        return None
    try:
        return _cipher().decrypt(secret.ciphertext.encode()).decode()
    except InvalidToken:
        return None


def purge() -> int:
    """Delete what has expired, ``PURGED_AT_ONCE`` at most, the oldest first; returns how many. Run by the sweeper."""
    expired = Secret.objects.filter(expires_at__lte=timezone.now()).order_by("expires_at")
    deleted, _ = Secret.objects.filter(pk__in=expired.values("pk")[:PURGED_AT_ONCE]).delete()
    return deleted


def locked(text: str) -> str:
    """``text`` encrypted, for a column of the database."""
    return _cipher().encrypt(text.encode()).decode()


def unlocked(ciphertext: str) -> str | None:
    """What ``locked`` has encrypted; None where that was with a key that is gone."""
    try:
        return _cipher().decrypt(ciphertext.encode()).decode()
    except InvalidToken:
        return None


def _cipher() -> MultiFernet:
    return _cipher_for((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=4)
def _cipher_for(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(_derived(key)) for key in keys])


def _derived(key: str) -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(b"beach.secret\0" + key.encode()).digest())
