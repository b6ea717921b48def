"""The addresses of all sockets; any other is answered too."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from channels.routing import URLRouter
from django.urls import re_path

from envelopes.registries.transports import transports

NO_SUCH_ADDRESS = 4404


async def nowhere(scope: Any, receive: Any, send: Any) -> None:
    """An unknown address: accepted, so that the code reaches the page, and closed."""
    await receive()
    await send({"type": "websocket.accept"})
    await send(
        {"type": "websocket.close", "code": NO_SUCH_ADDRESS, "reason": "There is no socket at this address."}
    )


@cache
def _router() -> URLRouter:
    """Made by ``prepare``, or when the first socket comes: by then every application has registered its transports."""
    return URLRouter(
        [
            *(route for transport in transports for route in transport.sockets()),
            re_path("", cast(Any, nowhere)),
        ]
    )


def prepare() -> None:
    """Import now what serves sockets: the first of many would have them wait for it. Called once, when Django is set
    up."""
    _router()


async def sockets(scope: Any, receive: Any, send: Any) -> None:
    """The websocket application."""
    root = scope.get("root_path", "")
    # The router raises where a client made up a prefix (daphne takes one from a header).
    app = _router() if scope["path"].startswith(root) else nowhere
    await app(scope, receive, send)
