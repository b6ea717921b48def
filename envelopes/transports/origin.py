"""The origin gate: a browser sends its cookies with a cross-site WebSocket handshake, and nothing else looks (D37)."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port, validate_host

logger = logging.getLogger(__name__)


class OriginGate:
    """Lets a handshake through when its ``Origin`` is the site itself, or one that the settings name.

    The site itself: host and port of the origin equal the ``Host`` header, and that host is in ``ALLOWED_HOSTS``.
    Other origins: full ones (``https://chat.example``) in ``BEACH_ALLOWED_ORIGINS``. Everything else, a missing or
    ``null`` origin included, is refused before the socket is accepted (403), and the log says what to set.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        if scope["type"] != "websocket":
            raise ImproperlyConfigured("OriginGate wraps websocket applications only.")
        headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", [])}
        origin, host = headers.get(b"origin", ""), headers.get(b"host", "")
        if self.allows(origin, host):
            return await self.app(scope, receive, send)
        logger.warning(
            "Refused a socket from origin %r for host %r. If it is yours, add it to BEACH_ALLOWED_ORIGINS.",
            origin[:200],
            host[:200],
        )
        await receive()
        await send({"type": "websocket.close", "code": 4403})
        return None

    @staticmethod
    def allows(origin: str, host: str) -> bool:
        """Whether a page of ``origin`` may open a socket on ``host`` (both as in the headers)."""
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
            return False
        if f"{parts.scheme}://{parts.netloc}".lower() in {o.lower() for o in settings.BEACH_ALLOWED_ORIGINS}:
            return True
        allowed = settings.ALLOWED_HOSTS
        if settings.DEBUG and not allowed:
            allowed = [".localhost", "127.0.0.1", "[::1]"]
        domain, _ = split_domain_port(host)
        return bool(domain) and validate_host(domain, allowed) and _same(parts.netloc, host, parts.scheme)


def _same(netloc: str, host: str, scheme: str) -> bool:
    """Equal host and port; the scheme's own port may be left out on either side, and TLS may end at a proxy."""
    default = ":443" if scheme == "https" else ":80"
    return netloc.lower().removesuffix(default) == host.lower().removesuffix(default)
