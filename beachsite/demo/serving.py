"""daphne inside this process, with the background work that has to start and stop with it."""

from __future__ import annotations

import asyncio
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
    from daphne.server import Server, twisted_loop
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    from beachsite.asgi import application
    from envelopes.runtime.process import ensure_started, shut_down

    opened = False

    class Announcing(Server):  # type: ignore[misc]  # daphne ships no types
        def listen_success(self, where: Any) -> None:
            nonlocal opened
            opened = True
            super().listen_success(where)
            listening()

    def let_go() -> Any:
        # Awaited by the reactor before it stops: leases go back, so that a restart carries on at once.
        return Deferred.fromFuture(asyncio.ensure_future(shut_down(), loop=twisted_loop))

    loop: Any = reactor
    # Not at callWhenRunning: the event loop does not run yet then. Without it, a turn that a crash has cut would wait
    # for the first visitor.
    loop.callLater(0, ensure_started)
    loop.addSystemEventTrigger("before", "shutdown", let_go)
    Announcing(
        application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        server_name="",
        verbosity=1,
    ).run()
    return opened
