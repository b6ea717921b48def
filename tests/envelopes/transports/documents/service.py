"""A service that receives webhooks: a real server on the loopback, that answers as it is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Service:
    """``answers`` are the next ones, then 204. ``received`` are headers and bodies."""

    port: int = 0
    answers: list[int] = field(default_factory=list)
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    news: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    raw: list[bytes] = field(default_factory=list)
    """Sent in place of an answer, again and again until whoever asked has gone; nothing at all for an empty one."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/hook"


@contextmanager
def service() -> Iterator[Service]:
    made = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.received.append((dict(self.headers), body))
            if made.raw:
                made.news.release()
                self._rude(made.raw.pop(0))
                return
            status = made.answers.pop(0) if made.answers else 204
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
            made.news.release()

        def _rude(self, words: bytes) -> None:
            self.close_connection = True
            self.connection.settimeout(30)
            with suppress(OSError):
                while words:
                    self.connection.sendall(words)
                # Until the other side ends it.
                self.connection.recv(1)

        def log_request(self, *args: object) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        made.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()
