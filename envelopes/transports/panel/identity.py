"""Who sits at a socket, asked again for every frame: a login that has ended must not go on through an open socket."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user

from envelopes.access import COOKIE, Principal, principal


def current_principal(scope: Any) -> Principal:
    """The principal behind a socket's cookies as they count now, read from the session store."""
    cookies = _cookies(scope)
    key = cookies.get(settings.SESSION_COOKIE_NAME)
    user = None
    if key:
        store = import_module(settings.SESSION_ENGINE).SessionStore(key)
        # get_user checks the session's hash, so a changed password ends it too.
        user = get_user(SimpleNamespace(session=store))  # type: ignore[arg-type]
    return principal(user, cookies.get(COOKIE))


def _cookies(scope: Any) -> dict[str, str]:
    for name, value in scope.get("headers", []):
        if name == b"cookie":
            jar: SimpleCookie = SimpleCookie()
            try:
                jar.load(value.decode("latin-1"))
            except CookieError:
                return {}
            return {key: morsel.value for key, morsel in jar.items()}
    return {}
