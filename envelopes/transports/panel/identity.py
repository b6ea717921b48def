"""Who sits at a socket, asked again for every frame with an effect, and after a while for others: a login that has
ended must not go on through an open socket."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest

from envelopes.access import COOKIE, Principal, admitted, get_session, principal_now
from envelopes.came_from import address_in
from envelopes.delivery.catching_up import Changed
from envelopes.errors import Forbidden, NotFound
from envelopes.models import Session

_COOKIES = "beach.cookies"
"""Where a handshake has its cookies once they have been read."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Who was let in to what: the principal's key, the session, whether they may act in it, from what address."""

    key: str
    session: Session
    owns: bool
    address: str = ""


def admit(scope: Any) -> Admission:
    """Raises ``Forbidden`` for nobody, and for anybody but the ``person`` of the query, where there is one (``reach``
    tells it to the page): what waits in a page is of whom it was made for. Raises ``NotFound`` for a session that is
    not there or not theirs."""
    who = current_principal(scope)
    if not who.is_known or _person(scope) not in ("", who.key):
        raise Forbidden("Sign in first.")
    session, may_act = admitted(who, scope["url_route"]["kwargs"]["public_id"])
    return Admission(who.key, session, may_act, address_in(scope))


def recheck(scope: Any, admission: Admission) -> None:
    """Raises ``Changed`` unless a handshake with the same cookies would let the same person in to the same rights."""
    try:
        now = admit(scope)
    except (Forbidden, NotFound) as error:
        raise Changed from error
    if (now.key, now.owns) != (admission.key, admission.owns):
        raise Changed


def acting(scope: Any, admission: Admission) -> Principal:
    """Who acts, for a frame with an effect; raises ``Changed`` unless it is who was let in."""
    who = current_principal(scope)
    if not who.is_known or who.key != admission.key:
        raise Changed
    return replace(who, address=admission.address)


def acting_at_once(scope: Any, admission: Admission) -> Principal | None:
    """The same for an event loop; None where the database has to be asked, since there is a login."""
    return None if settings.SESSION_COOKIE_NAME in cookies_of(scope) else acting(scope, admission)


def check_visible(who: Principal, admission: Admission) -> None:
    """Raises ``Changed`` where the session is gone, or not to be seen by them any more."""
    try:
        get_session(who, admission.session.public_id)
    except NotFound as error:
        raise Changed from error


def current_principal(scope: Any) -> Principal:
    """The principal behind a socket's cookies as they count now, read from the session store."""
    cookies = cookies_of(scope)
    return principal_now(cookies.get(settings.SESSION_COOKIE_NAME), cookies.get(COOKIE))


def _person(scope: Any) -> str:
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin-1")).get("person", [""])[-1]


def slim(scope: Any) -> None:
    """Let go of the headers of a handshake that are not asked for again: every router and middleware on the way holds
    the same list for as long as the socket is open."""
    headers = scope["headers"]
    if isinstance(headers, list):
        headers[:] = _cookies(scope)


def _cookies(scope: Any) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in scope["headers"] if name.lower() == b"cookie"]


def cookies_of(scope: Any) -> dict[str, str]:
    """The cookies of a handshake exactly as Django reads those of a request: what one of the two reads otherwise locks
    people out of their conversations. They stay the same, and are read once."""
    cookies: dict[str, str] | None = scope.get(_COOKIES)
    if cookies is None:
        told = {"type": "http", "method": "GET", "path": "/", "headers": _cookies(scope)}
        cookies = scope[_COOKIES] = ASGIRequest(told, BytesIO()).COOKIES
    return cookies
