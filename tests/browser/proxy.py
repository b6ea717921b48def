"""A way to a server that can stall without closing, or break: a TCP proxy of the test's own."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator


class Proxy:
    """``url`` leads to the server."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._open: list[_Link] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._admit, daemon=True).start()

    def stall(self) -> int:
        """Hold back what the server says on the WebSockets of now, and close nothing. Returns how many there are."""
        links = [link for link in self._open if link.upgraded and not link.over]
        for link in links:
            link.held = True
        return len(links)

    def cut(self) -> None:
        """End all connections of now."""
        for link in self._open:
            link.close()

    def close(self) -> None:
        self._door.close()
        self.cut()

    def _admit(self) -> None:
        while True:
            try:
                page, _ = self._door.accept()
            except OSError:
                return
            self._open.append(_Link(page, socket.create_connection(("127.0.0.1", self._to))))


class _Link:
    """One connection: a thread for each way."""

    def __init__(self, page: socket.socket, server: socket.socket) -> None:
        self.held = self.over = self.upgraded = False
        self._ends = (page, server)
        for source, target in (self._ends, self._ends[::-1]):
            threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self.upgraded = self.upgraded or b"upgrade: websocket" in data.lower()
                while self.held and source is self._ends[1] and not self.over:
                    time.sleep(0.02)
                target.sendall(data)
        self.close()

    def close(self) -> None:
        self.over = True
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextlib.contextmanager
def proxied(port: int) -> Iterator[Proxy]:
    proxy = Proxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
