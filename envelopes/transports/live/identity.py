"""Who is at a socket of the live channel: a peer with its token, whoever is signed in, or a page that has to bring a
``wsToken`` (reading, 2.1). Asked again for each frame with an effect, and after a while for those who only listen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest

from envelopes.access import COOKIE, Principal, get_session, principal_now
from envelopes.came_from import address_in
from envelopes.delivery import Changed
from envelopes.errors import Forbidden, NotFound
from envelopes.models import Peer, Session
from envelopes.peers import authenticate, rates
from envelopes.transports.live import tokens
from envelopes.transports.live.tokens import Bound, Grant


@dataclass(frozen=True, slots=True)
class Identity:
    """``grant`` is None for a page that has to bring a ``wsToken``. ``bound``: to which session and app a session token
    is. ``by_token``: a ``sessionToken`` may be given to it. ``address`` is where its socket comes from."""

    grant: Grant | None
    bound: Bound | None = None
    by_token: bool = False
    address: str = ""

    def principal(self) -> Principal:
        """Whoever it is now. Raises ``Changed`` for whoever counts no longer."""
        who = self.grant.principal() if self.grant is not None else None
        if who is None or not who.is_known:
            raise Changed
        return replace(who, address=self.address)

    def peer(self) -> Peer | None:
        """The peer that it is, if it is one; its calls are counted."""
        return self.grant.peer_now() if self.grant is not None and self.grant.peer else None


def identify(scope: Any) -> Identity:
    """Whoever a handshake brings, and from where. Raises ``Forbidden`` for nobody, and for a peer that may not use the
    live channel, ``TooOften`` for one that comes too often."""
    return replace(_identified(scope), address=address_in(scope))


def _identified(scope: Any) -> Identity:
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    if "wsToken" in query:
        # It counts when it is sent with a subscribe: addresses end up in logs.
        return Identity(None)
    kind, _, token = _header(scope, b"authorization").partition(" ")
    if kind.lower() != "bearer":
        token = query.get("token", [""])[-1]
    if token:
        return _bearer(token)
    cookies = _cookies(scope)
    login = cookies.get(settings.SESSION_COOKIE_NAME)
    who = principal_now(login, cookies.get(COOKIE))
    if not who.is_known:
        raise Forbidden("Sign in first, or bring a token.")
    return Identity(Grant.of_person(who, login))


def _bearer(token: str) -> Identity:
    if token.startswith(tokens.PREFIX[tokens.SESSION]):
        bound = tokens.check(token, tokens.SESSION)
        return Identity(bound.grant, bound)
    peer = authenticate(token)
    if peer is None:
        raise Forbidden("This token is none, or counts no longer.")
    rates.take(peer)
    if tokens.SCOPE not in peer.scopes:
        raise Forbidden("This token may not use the live channel.", scope=tokens.SCOPE)
    return Identity(Grant.of_peer(peer))


def still(identity: Identity, key: str, public_id: str) -> None:
    """Raises ``Changed`` unless the same one would be let in to the same session now."""
    who = identity.principal()
    try:
        get_session(who, public_id)
    except NotFound as error:
        raise Changed from error
    if who.key != key:
        raise Changed


def session_of(who: Principal, public_id: str) -> Session | None:
    """None for one that is not there, or not theirs."""
    try:
        return get_session(who, public_id)
    except NotFound:
        return None


def _header(scope: Any, name: bytes) -> str:
    found = [value for key, value in scope.get("headers", ()) if key.lower() == name]
    return found[-1].decode("latin-1") if found else ""


def _cookies(scope: Any) -> dict[str, str]:
    """Exactly as Django reads those of a request."""
    headers = [(name, value) for name, value in scope["headers"] if name.lower() == b"cookie"]
    told = {"type": "http", "method": "GET", "path": "/", "headers": headers}
    cookies: dict[str, str] = ASGIRequest(told, BytesIO()).COOKIES
    return cookies
