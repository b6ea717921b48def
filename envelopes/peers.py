"""Peers: programs with a token of their own. Who one is, what it may do, and how often (D16, R10)."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from django.core.exceptions import ValidationError
from django.db import IntegrityError

from envelopes.access import Principal, program
from envelopes.errors import Conflict, TooOften, ValidationFailed
from envelopes.models import Peer
from envelopes.protocol.agent_cards import consumed, read_agent_card
from envelopes.registries.scopes import SCOPES
from envelopes.types import Json

PREFIX = "beach_"
"""Tokens begin with it, so that whoever finds one in a log or a repository knows what it is."""

REMEMBERED_PEERS = 1_024


def add(name: str, scopes: Iterable[str], *, rate: int = 120, card: Json = None) -> tuple[Peer, str]:
    """A new peer, and its token, which is told this once.

    Raises ``ValidationFailed`` for a name that is none, a scope that does not exist, a rate below 1 and what is no
    Agent Card; ``TooLarge`` for a card beyond its bound; ``Conflict`` for a name that is taken.
    """
    wanted = list(dict.fromkeys(scopes))
    if unknown := sorted(set(wanted).difference(SCOPES)):
        raise ValidationFailed(f"There is no scope {', '.join(unknown)}.", allowed=list(SCOPES))
    if rate < 1:
        raise ValidationFailed("A rate is at least one request a minute.", path="/rate")
    if card is not None:
        read_agent_card(card)
    peer = Peer(name=name, scopes=wanted, rate=rate, card=card)
    token = new_token(peer)
    try:
        peer.clean_fields()
    except ValidationError as error:
        raise ValidationFailed(f"{name!r} is not what a peer can be called.", path="/name") from error
    try:
        peer.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(f"There is a peer {name!r} already.") from error
    return peer, token


def renew(peer: Peer) -> str:
    """A new token in place of the one that ``peer`` had; told this once. The old one is worth nothing from here on."""
    token = new_token(peer)
    peer.save(update_fields=["token_digest", "token_end"])
    return token


def new_token(peer: Peer) -> str:
    """A token for ``peer``, which is not saved."""
    token = PREFIX + secrets.token_urlsafe(32)
    peer.token_digest, peer.token_end = _digest(token), token[-4:]
    return token


def _digest(token: str) -> str:
    # 256 random bits: nobody can try them all, so a slow hash would only cost us.
    return hashlib.sha256(token.encode()).hexdigest()


def authenticate(token: str) -> Peer | None:
    """The active peer whose token this is."""
    if not token.startswith(PREFIX):
        return None
    return Peer.objects.filter(token_digest=_digest(token), is_active=True).first()


def principal_of_peer(peer: Peer) -> Principal:
    """Whoever brings the token again owns the same conversations, also after the token or the name has changed."""
    found = program("peer", str(peer.pk), name=peer.name, consumes=consumed(peer.card))
    return replace(found, decides="decide" in peer.scopes)


class Rates:
    """How often each peer may come, in this process: a bucket that fills with ``rate`` a minute and holds as many.

    Thread-safe. The ``REMEMBERED_PEERS`` that came last are known; one that is not is let in as if it were new.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._left: dict[int, tuple[float, float]] = {}

    def take(self, peer: Peer) -> None:
        """Raises ``TooOften``, with the seconds until the next request, where there is nothing left."""
        with self._lock:
            now = self._clock()
            left, at = self._left.pop(peer.pk, (float(peer.rate), now))
            left = min(float(peer.rate), left + (now - at) * peer.rate / 60)
            self._left[peer.pk] = (left - 1 if left >= 1 else left, now)
            if len(self._left) > REMEMBERED_PEERS:
                del self._left[next(iter(self._left))]
        if left < 1:
            raise TooOften(retry_after=round((1 - left) * 60 / peer.rate, 1))


rates = Rates()
"""Of this process."""
