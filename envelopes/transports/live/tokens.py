"""Tokens of the live channel: one of 180 s for a page's first subscribe, where no header can carry any, and one of 4 h
to come back with (reading, 1.4 and 2.1). Each lets one principal in to one session and one app."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from envelopes.access import NOBODY, Principal, principal_now
from envelopes.conf import conf
from envelopes.models import LiveToken, Peer, Session
from envelopes.peers import principal_of_peer
from envelopes.transports.live.errors import LiveError

SUBSCRIBE, SESSION = "subscribe", "session"
LIFETIME = {SUBSCRIBE: timedelta(seconds=180), SESSION: timedelta(hours=4)}
PREFIX = {SUBSCRIBE: "beachws_", SESSION: "beachss_"}
SCOPE = "live"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a principal was known by: the key of a login, a guest's ``owner_key``, or a peer with the digest of its
    token. It counts as long as that does."""

    user: int | None = None
    login: str = ""
    owner_key: str = ""
    peer: int | None = None
    peer_digest: str = ""

    def principal(self) -> Principal:
        """Whom it lets in now; nobody where it counts no longer."""
        if self.peer is not None:
            found = self.peer_now()
            return principal_of_peer(found) if found is not None else NOBODY
        if self.login:
            who = principal_now(self.login, None)
            return who if who.user is not None and who.user.pk == self.user else NOBODY
        return Principal(owner_key=self.owner_key) if self.owner_key and conf.BEACH_ANONYMOUS else NOBODY

    def peer_now(self) -> Peer | None:
        """The peer, where it is one that may still use the live channel."""
        found = Peer.objects.filter(pk=self.peer or 0, token_digest=self.peer_digest, is_active=True).first()
        return found if found is not None and SCOPE in found.scopes else None

    @classmethod
    def of_peer(cls, peer: Peer) -> Grant:
        return cls(peer=peer.pk, peer_digest=peer.token_digest)

    @classmethod
    def of_person(cls, who: Principal, login: str | None) -> Grant:
        """Of a person with the key of their login, or of a guest."""
        if who.user is not None:
            return cls(user=who.user.pk, login=login or "")
        return cls(owner_key=who.owner_key)


def issue(purpose: str, session: Session, grant: Grant) -> tuple[str, datetime]:
    """A token, told this once, and when it expires. What has expired goes."""
    LiveToken.objects.filter(expires_at__lte=timezone.now()).delete()
    token = PREFIX[purpose] + secrets.token_urlsafe(32)
    expires = timezone.now() + LIFETIME[purpose]
    LiveToken.objects.create(
        digest=_digest(token),
        purpose=purpose,
        session=session,
        app=session.actor,
        user_id=grant.user,
        login=grant.login,
        owner_key=grant.owner_key,
        peer_id=grant.peer,
        peer_digest=grant.peer_digest,
        expires_at=expires,
    )
    return token, expires


@dataclass(frozen=True, slots=True)
class Bound:
    """What a token is bound to."""

    grant: Grant
    session_id: str
    app: str


def check(token: str, purpose: str) -> Bound:
    """Raises ``LiveError``: BOOTSTRAP_INVALID, BOOTSTRAP_EXPIRED."""
    found: Any = (
        LiveToken.objects.select_related("session").filter(digest=_digest(token), purpose=purpose).first()
    )
    if found is None:
        raise LiveError("BOOTSTRAP_INVALID", "This token is none, or has long expired.")
    if found.expires_at <= timezone.now():
        raise LiveError("BOOTSTRAP_EXPIRED", "This token has expired; ask for another one.")
    grant = Grant(found.user_id, found.login, found.owner_key, found.peer_id, found.peer_digest)
    if not grant.principal().is_known:
        raise LiveError("BOOTSTRAP_INVALID", "Whoever this token was made for may not use it any more.")
    return Bound(grant, found.session.public_id, found.app)


def _digest(token: str) -> str:
    # 256 random bits: nobody can try them all, so a slow hash would only cost us.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
