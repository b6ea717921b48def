"""``/metrics`` of a process that serves no pages: a small server of its own, guarded as the page is.

One for each process, as Prometheus has it: what several count is added up there, and a worker that hangs is seen.
``prometheus_client`` could keep the numbers of all in shared files instead, which outlive their processes, and without
what a process says of itself (memory, files, processor time).
"""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from envelopes.conf import conf
from envelopes.errors import ValidationFailed
from envelopes.serving.metrics_page import brings_token

LOOPBACK = "127.0.0.1"

REQUEST_SECONDS = 10.0
"""How long a request may take to come, and its answer to be taken."""

Start = Callable[[str, list[tuple[str, str]]], object]

logger = logging.getLogger(__name__)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.warning("A request for metrics failed: %r", sys.exception())


class _SixServer(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = REQUEST_SECONDS

    def address_string(self) -> str:
        # Not its name: to ask for that may take seconds.
        return str(self.client_address[0])

    def log_message(self, *args: Any) -> None:
        """Nothing: it is asked for every few seconds."""


class WorkerMetrics:
    """Serves at ``address``: ``host:port``, or a port of the loopback address; 0 is any that is free."""

    def __init__(self, address: str) -> None:
        """Binds it. Raises ``ValidationFailed`` for what is no address or is taken, and without a token."""
        host, port = _parsed(address)
        if not conf.BEACH_METRICS_TOKEN:
            raise ValidationFailed("Metrics of workers need BEACH_METRICS_TOKEN, as those of pages do.")
        server = _SixServer if ":" in host else _Server
        try:
            self._server = make_server(host, port, _answer, server, _Handler)
        except OSError as error:
            raise ValidationFailed(
                f"Metrics cannot be served at {address}: {error.strerror or error}."
            ) from error
        self.port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, name="beach-metrics", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns once nobody is let in any more; what is being answered may go on."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or not port.isascii() or int(port) > 65_535:
        raise ValidationFailed(f"{address!r} is not an address for metrics: host:port, or a port.")
    return host.strip("[]") or LOOPBACK, int(port)


def _answer(environ: dict[str, Any], start: Start) -> list[bytes]:
    asked, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
    if not brings_token(environ.get("HTTP_AUTHORIZATION", "")):
        return _told(start, "401 Unauthorized", b"Bring the token.\n", ("WWW-Authenticate", "Bearer"))
    if asked != "/metrics":
        return _told(start, "404 Not Found", b"It is at /metrics.\n")
    if method not in ("GET", "HEAD"):
        return _told(start, "405 Method Not Allowed", b"It is there to be read.\n", ("Allow", "GET, HEAD"))
    body = _told(start, "200 OK", generate_latest(), kind=CONTENT_TYPE_LATEST)
    return [] if method == "HEAD" else body


def _told(
    start: Start, status: str, body: bytes, *more: tuple[str, str], kind: str = "text/plain"
) -> list[bytes]:
    start(status, [("Content-Type", kind), ("Content-Length", str(len(body))), *more])
    return [body]
