"""daphne inside this process."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

HOST = "127.0.0.1"


def port_is_free(port: int, host: str = HOST) -> bool:
    """Whether the server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the server will: a port that was closed a moment ago is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port_after(port: int, host: str = HOST) -> int | None:
    """The next free port, for a suggestion."""
    return next(
        (other for other in range(port + 1, min(port + 50, 65_536)) if port_is_free(other, host)), None
    )


def serve(port: int, listening: Callable[[], None], host: str = HOST) -> bool:
    """Serve until SIGINT or SIGTERM; ``listening`` is called once the port is open. False: it could not be opened."""
    from daphne.endpoints import build_endpoint_description_strings
    from daphne.server import Server

    # Ties the background work to daphne's loop (beachsite/background.py).
    from beachsite.asgi import application

    opened = False

    class Announcing(Server):  # type: ignore[misc]  # daphne ships no types
        def listen_success(self, where: Any) -> None:
            nonlocal opened
            opened = True
            super().listen_success(where)
            listening()

    Announcing(
        application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        server_name="",
        verbosity=1,
    ).run()
    return opened
