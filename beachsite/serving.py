"""Ports of this machine, for whoever is about to serve on one."""

from __future__ import annotations

import socket

from envelopes.serving.daphne_server import HOST


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
