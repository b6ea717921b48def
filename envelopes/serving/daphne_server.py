"""daphne inside this process, as ``manage.py serve`` starts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

HOST = "127.0.0.1"

BACKLOG = 2_048
"""How many connections may wait to be accepted: after a restart every open page comes back at once, and what finds the
queue full (daphne's own is 50) tries again only seconds later. The kernel may allow fewer (``net.core.somaxconn``)."""

HANDSHAKE_SECONDS = 20
"""How long a handshake may take. Five, as daphne has it, are over before the last of a thousand has had its turn."""


def tcp(port: int, host: str = HOST) -> str:
    """The endpoint of a port, in Twisted's words; ``host`` is an address, of either family."""
    # An IPv6 address is written in brackets where it is part of a URL.
    return f"tcp:port={port}:interface={_quoted(host.strip('[]'))}:backlog={BACKLOG}"


def unix(path: str) -> str:
    """The endpoint of a Unix socket: made when the server starts, and whoever may reach its folder may connect."""
    return f"unix:address={_quoted(path)}:backlog={BACKLOG}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")


def serve(endpoint: str, listening: Callable[[], None], *, proxy_headers: bool = False) -> bool:
    """Serve ``ASGI_APPLICATION`` until SIGINT or SIGTERM; ``listening`` is called once the endpoint is open. False: it
    could not be opened.

    ``proxy_headers``: the client's address is what ``X-Forwarded-For`` says.
    """
    from daphne.server import Server

    from envelopes.serving.daphne_applications import Applications

    # Ties the background work to daphne's loop (envelopes/serving/background.py).
    application = import_string(settings.ASGI_APPLICATION)

    opened = False

    class Announcing(Applications, Server):  # type: ignore[misc]  # daphne ships no types
        def listen_success(self, where: Any) -> None:
            nonlocal opened
            opened = True
            super().listen_success(where)
            listening()

    forwarded = {
        f"proxy_forwarded_{part}_header": name
        for part, name in (
            ("address", "X-Forwarded-For"),
            ("port", "X-Forwarded-Port"),
            ("proto", "X-Forwarded-Proto"),
        )
        if proxy_headers
    }
    Announcing(
        application,
        endpoints=[endpoint],
        websocket_connect_timeout=HANDSHAKE_SECONDS,
        websocket_handshake_timeout=HANDSHAKE_SECONDS,
        server_name="",
        verbosity=1,
        **forwarded,
    ).run()
    return opened
