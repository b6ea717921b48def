"""The demo server as a process: it comes up, dies, and comes back on the same data and port."""

from __future__ import annotations

import gzip
import socket
import urllib.error
import urllib.request

import pytest

from envelopes.client import bundling as client
from envelopes.serving.daphne_sockets import HANDSHAKES
from tests.liveserver import Server


def test_a_killed_server_comes_back_on_its_data_and_port(server: Server) -> None:
    server.add_user("bea", "a sound password")
    port = server.port

    server.kill()
    assert not server.answers()
    server.start()

    count = "from django.contrib.auth.models import User; print(User.objects.filter(username='bea').count())"
    assert server.port == port
    assert server.manage("shell", "-v", "0", "-c", count).strip() == "1"


def test_it_listens_on_loopback_only(server: Server) -> None:
    with socket.socket() as probe:
        # Bound to every address, the server would hold this one too.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.2", server.port))
        probe.listen()

    assert server.answers()


def test_it_ends_when_asked(server: Server) -> None:
    server.stop()

    assert not server.answers()


def test_it_serves_static_files_without_a_warning(server: Server) -> None:
    with urllib.request.urlopen(f"{server.url}/static/beach/chat.css", timeout=10) as answer:
        body = answer.read()

    assert b"--b-paper" in body
    assert "Warning" not in server.log.read_text()


def test_static_files_are_served_compressed(server: Server) -> None:
    """What the page costs is what goes over the wire, in the demo as in production."""
    for path in ("beach/panel.js", "beach/chat.css", "django_htmx/htmx-4.min.js", "beach/mark.svg"):
        url = f"{server.url}/static/{path}"
        with urllib.request.urlopen(url) as plain:
            whole = plain.read()
            assert plain.headers["Content-Encoding"] is None, path
        wanted = urllib.request.Request(url, headers={"Accept-Encoding": "gzip, br"})
        with urllib.request.urlopen(wanted) as answer:
            sent = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip", path
            assert "Accept-Encoding" in answer.headers["Vary"]
            assert int(answer.headers["Content-Length"]) == len(sent) < len(whole)
            again = urllib.request.Request(
                url, headers={"Accept-Encoding": "gzip", "If-None-Match": answer.headers["ETag"]}
            )
        assert gzip.decompress(sent) == whole, path
        with pytest.raises(urllib.error.HTTPError, match="304"):
            urllib.request.urlopen(again)
        if path == "beach/panel.js" and client.has_minifier():
            assert len(sent) <= 10_000


UPGRADE = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
KEY = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
VERSION = "Sec-WebSocket-Version: 13\r\n"
WRONG = {
    "without a key": UPGRADE + VERSION,
    "of another version": UPGRADE + KEY + "Sec-WebSocket-Version: 99\r\n",
    "for a protocol that is no text": UPGRADE + KEY + VERSION + "Sec-WebSocket-Protocol: \xe9\r\n",
    "to something else than a socket": "Upgrade: h2c\r\nConnection: Upgrade\r\n",
    "from elsewhere": UPGRADE + KEY + VERSION + "Origin: http://elsewhere.example\r\n",
}


def ask(server: Server, headers: str, *, wait: bool = True) -> int:
    """Ask for a socket; returns the status of the answer, 0 where nobody waits for one."""
    request = f"GET /ws/chat/nowhere/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{headers}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(request.encode("latin-1"))
        if not wait:
            return 0
        with client.makefile("rb") as answer:
            return int(answer.readline().split()[1])


def test_handshakes_that_come_to_nothing_leave_their_turn_to_others(server: Server) -> None:
    # Daphne logs what it cannot read.
    server.may_fail = True
    right = f"{UPGRADE}{KEY}{VERSION}Origin: {server.url}\r\n"
    for why, wrong in WRONG.items():
        for _ in range(HANDSHAKES + 1):
            assert ask(server, wrong) >= 400, why
        assert ask(server, right) == 101, why
    for _ in range(HANDSHAKES + 1):
        ask(server, right, wait=False)
    assert ask(server, right) == 101
