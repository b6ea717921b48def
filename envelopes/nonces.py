"""Names that count once (replay protection): used up in the database, so in all processes, and forgotten when whoever
asks would refuse them for their age anyway."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from envelopes.errors import Unavailable
from envelopes.models.ids import public_id
from envelopes.models.nonce import Nonce

MOST = 100_000
"""Nonces of one scope that are remembered at once. A scope that is full refuses what is new until some are forgotten:
it does not forget one that could come again."""

PURGED_AT_ONCE = 1_000
"""In one transaction: whoever wants to write meanwhile waits for it."""


class DatabaseNonces:
    """Nonces of one ``scope``: whoever shares a secret has one of their own, of up to 64 characters."""

    def __init__(self, scope: str) -> None:
        self._scope = scope

    def use(self, nonce: str, until: float, *, by: str = "") -> bool:
        """Use ``nonce`` up, once; False where it has been. It is remembered until so many seconds since 1970. Raises
        ``Unavailable`` where too many are remembered already.

        ``by`` is what it is used for: the same may use it again, since whoever asks knows a repeat of that otherwise.
        """
        digest = _digest(nonce)
        made_with = _digest(by)[:32] if by else public_id()
        expires_at = datetime.fromtimestamp(until, tz=UTC)
        with transaction.atomic():
            made = Nonce.objects.bulk_create(
                [Nonce(scope=self._scope, digest=digest, made_with=made_with, expires_at=expires_at)],
                ignore_conflicts=True,
            )
            # Whose row it is only the database knows: the number of a row that was there is not told.
            mine = Nonce.objects.filter(
                scope=self._scope, digest=digest, made_with=made[0].made_with
            ).exists()
            if mine and Nonce.objects.filter(scope=self._scope)[: MOST + 1].count() > MOST:
                raise Unavailable(
                    "Too many have come within five minutes. Try again in a while.", allowed=MOST
                )
        return mine

    def is_used(self, nonce: str) -> bool:
        """Whether ``nonce`` has been used and is still remembered."""
        return Nonce.objects.filter(scope=self._scope, digest=_digest(nonce)).exists()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def purge() -> int:
    """Delete what has expired, ``PURGED_AT_ONCE`` at most, the oldest first; returns how many. Run by the sweeper."""
    expired = Nonce.objects.filter(expires_at__lte=timezone.now()).order_by("expires_at")
    deleted, _ = Nonce.objects.filter(pk__in=expired.values("pk")[:PURGED_AT_ONCE]).delete()
    return deleted
