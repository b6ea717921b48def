"""The origin gate: a browser sends its cookies with a cross-site WebSocket handshake, and nothing else looks (D37)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port, validate_host

from envelopes.conf import conf

logger = logging.getLogger(__name__)


class OriginGate:
    """Lets a handshake through when its ``Origin`` is the site itself, or one that the settings name.

    The site itself: host and port of the origin equal those that the browser asked for (``host_of``), and that host is
    in ``ALLOWED_HOSTS``. Other origins: full ones (``https://chat.example``) in ``BEACH_ALLOWED_ORIGINS``. Everything
    else, a missing or ``null`` origin included, is refused before the socket is accepted (403), and the log says why
    and what to set. A program that brings a token as Bearer has no origin: no page can send that header.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    def __call__(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]:
        if scope["type"] != "websocket":
            raise ImproperlyConfigured("OriginGate wraps websocket applications only.")
        # Nothing of the gate is kept for as long as the socket is open.
        application = self.app if self._lets_in(scope) else _refuse
        running: Awaitable[None] = application(scope, receive, send)
        return running

    def _lets_in(self, scope: Any) -> bool:
        headers = {
            name.lower().decode("latin-1"): value.decode("latin-1")
            for name, value in scope.get("headers", [])
        }
        origin, host = headers.get("origin", ""), host_of(headers)
        if not origin and headers.get("authorization", "")[:7].lower() == "bearer ":
            # No browser sends either of the two so: it is a program, whose token its door looks at.
            return True
        if self.allows(origin, host):
            return True
        logger.warning("Refused a socket. %s", refusal(origin, host, headers.get("x-forwarded-host", "")))
        return False

    @staticmethod
    def allows(origin: str, host: str) -> bool:
        """Whether a page of ``origin`` may open a socket on ``host``."""
        parts = _parts(origin)
        if parts is None:
            return False
        if f"{parts.scheme}://{parts.netloc}".lower() in {o.lower() for o in conf.BEACH_ALLOWED_ORIGINS}:
            return True
        return _is_allowed(host) and _same(parts.netloc, host, parts.scheme)


async def _refuse(_scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 4403})


def host_of(headers: Mapping[str, str]) -> str:
    """The host that the browser asked for, as ``HttpRequest.get_host`` finds it; ``headers`` by lower-case name."""
    if settings.USE_X_FORWARDED_HOST and "x-forwarded-host" in headers:
        return headers["x-forwarded-host"]
    return headers.get("host", "")


def refusal(origin: str, host: str, forwarded: str = "") -> str:
    """Why ``OriginGate`` refuses, and what to change, for whoever runs the site; at most 200 characters of each."""
    parts = _parts(origin)
    page, asked = origin[:200], host[:200]
    if parts is None:
        return f"Its Origin header is {page!r}, which is not the address of a web page."
    if _same(parts.netloc, host, parts.scheme):
        return f"The host {asked!r} is not in ALLOWED_HOSTS."
    told = f"Origin and Host differ: the page is at {page!r}, and the host is {asked!r}."
    if _same(parts.netloc, forwarded, parts.scheme):
        hint = "X-Forwarded-Host has the right one: set USE_X_FORWARDED_HOST, if your proxy always sets that header,"
    else:
        hint = (
            "A proxy has to pass on the Host that the browser sent, with its port "
            "(nginx: proxy_set_header Host $http_host);"
        )
    return (
        f"{told} {hint} or, if pages of that origin may use this site, add {page!r} to BEACH_ALLOWED_ORIGINS."
    )


def _parts(origin: str) -> SplitResult | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
        return None
    return parts


def _is_allowed(host: str) -> bool:
    allowed = settings.ALLOWED_HOSTS
    if settings.DEBUG and not allowed:
        allowed = [".localhost", "127.0.0.1", "[::1]"]
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def _same(netloc: str, host: str, scheme: str) -> bool:
    """Equal host and port; the scheme's own port may be left out on either side, and TLS may end at a proxy."""
    default = ":443" if scheme == "https" else ":80"
    return netloc.lower().removesuffix(default) == host.lower().removesuffix(default)
