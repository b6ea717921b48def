"""Who sits at a socket, asked again for every frame: a login that has ended must not go on through an open socket."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.contrib.auth import get_user
from django.core.handlers.asgi import ASGIRequest

from envelopes.access import COOKIE, Principal, get_session, owns, principal
from envelopes.errors import Forbidden, NotFound
from envelopes.models import Session


class Changed(Exception):
    """Who sits here, or what they may do, is not what it was at the handshake."""


@dataclass(frozen=True)
class Admission:
    """Who was let in to what: the principal's key, the session, whether they may act in it."""

    key: str
    session: Session
    owns: bool


def admit(scope: Any) -> Admission:
    """Raises ``Forbidden`` for nobody, and for anybody but the ``person`` of the query, where there is one (as
    ``envelopes.views.reach`` says it): what waits in a page is of whom it was made for. Raises ``NotFound`` for a
    session that is not there or not theirs."""
    who = current_principal(scope)
    if not who.is_known or _person(scope) not in ("", who.key):
        raise Forbidden("Sign in first.")
    session = get_session(who, scope["url_route"]["kwargs"]["public_id"])
    return Admission(who.key, session, owns(who, session))


def recheck(scope: Any, admission: Admission) -> None:
    """Raises ``Changed`` unless a handshake with the same cookies would let the same person in to the same rights."""
    try:
        now = admit(scope)
    except (Forbidden, NotFound) as error:
        raise Changed from error
    if (now.key, now.owns) != (admission.key, admission.owns):
        raise Changed


def actor_of(scope: Any, admission: Admission) -> tuple[Principal, Session]:
    """Who acts, and in what, for a frame with an effect; raises ``Changed``. Whether they may is asked where it has its
    effect, under the session's lock."""
    who = current_principal(scope)
    if not who.is_known or who.key != admission.key:
        raise Changed
    try:
        return who, get_session(who, admission.session.public_id)
    except NotFound as error:
        raise Changed from error


def current_principal(scope: Any) -> Principal:
    """The principal behind a socket's cookies as they count now, read from the session store."""
    cookies = cookies_of(scope)
    key = cookies.get(settings.SESSION_COOKIE_NAME)
    user = None
    # A quoted cookie may hold NUL, which is no text for PostgreSQL.
    if key and "\0" not in key:
        store = import_module(settings.SESSION_ENGINE).SessionStore(key)
        # get_user checks the session's hash, so a changed password ends it too.
        user = get_user(SimpleNamespace(session=store))  # type: ignore[arg-type]
    return principal(user, cookies.get(COOKIE))


def _person(scope: Any) -> str:
    query: bytes = scope.get("query_string", b"")
    return parse_qs(query.decode("latin-1")).get("person", [""])[-1]


def cookies_of(scope: Any) -> dict[str, str]:
    """The cookies of a handshake exactly as Django reads those of a request: what one of the two reads otherwise locks
    people out of their conversations."""
    return ASGIRequest({**scope, "method": "GET"}, BytesIO()).COOKIES
