"""The addresses of all sockets; any other is answered too."""

from __future__ import annotations

from typing import Any, cast

from channels.routing import URLRouter
from django.urls import re_path

from envelopes.transports.panel.routing import websocket_urlpatterns

NO_SUCH_ADDRESS = 4404


async def nowhere(scope: Any, receive: Any, send: Any) -> None:
    """An address that there is not: accepted, so that the code reaches the page, and closed."""
    await receive()
    await send({"type": "websocket.accept"})
    await send(
        {"type": "websocket.close", "code": NO_SUCH_ADDRESS, "reason": "There is no socket at this address."}
    )


_router = URLRouter([*websocket_urlpatterns, re_path("", cast(Any, nowhere))])


async def sockets(scope: Any, receive: Any, send: Any) -> None:
    """The websocket application."""
    root = scope.get("root_path", "")
    # The router raises where a client made up a prefix (daphne takes one from a header).
    app = _router if scope["path"].startswith(root) else nowhere
    await app(scope, receive, send)
