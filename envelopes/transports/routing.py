"""The addresses of all sockets; any other is answered too."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import cache
from typing import Any

from envelopes.registries.transports import transports
from envelopes.transports import prefixes

NO_SUCH_ADDRESS = 4404


async def nowhere(scope: Any, receive: Any, send: Any) -> None:
    """An unknown address: accepted, so that the code reaches the page, and closed."""
    await receive()
    await send({"type": "websocket.accept"})
    await send(
        {"type": "websocket.close", "code": NO_SUCH_ADDRESS, "reason": "There is no socket at this address."}
    )


@cache
def _routes() -> tuple[Any, ...]:
    """Made by ``prepare``, or when the first socket comes: by then every application has registered its transports."""
    return tuple(route for transport in transports for route in transport.sockets())


def prepare() -> None:
    """Import now what serves sockets: the first of many would have them wait for it. Called once, when Django is set
    up."""
    _routes()
    prefixes.own()


def sockets(scope: Any, receive: Any, send: Any) -> Awaitable[None]:
    """The websocket application. Not as Channels routes: it waits beside each socket, with a copy of its scope."""
    path = _below(scope)
    for route in _routes() if path is not None else ():
        found = route.pattern.match(path)
        if found is not None:
            _, args, named = found
            scope["url_route"] = {"args": args, "kwargs": {**named, **route.default_args}}
            running: Awaitable[None] = route.callback(scope, receive, send)
            return running
    return nowhere(scope, receive, send)


def is_ours(scope: Any) -> bool:
    """Whether a socket is at an address below ``envelopes.urls``."""
    return _below(scope) is not None


def _below(scope: Any) -> str | None:
    """The address of a socket below ``envelopes.urls``; None for one elsewhere."""
    root, path = scope.get("root_path", ""), scope["path"]
    # A client may have made up a prefix: daphne takes one from a header.
    if not path.startswith(root):
        return None
    path, prefix = f"/{path[len(root) :].lstrip('/')}", prefixes.own()
    return path[len(prefix) :] if path.startswith(prefix) else None
