"""The demo server as a process: it comes up, dies, and comes back on the same data and port."""

from __future__ import annotations

import gzip
import socket
import urllib.error
import urllib.request

import pytest

from beachsite import client
from tests.liveserver import Server


def test_a_killed_server_comes_back_on_its_data_and_port(server: Server) -> None:
    server.add_user("ann", "a sound password")
    port = server.port

    server.kill()
    assert not server.answers()
    server.start()

    count = "from django.contrib.auth.models import User; print(User.objects.filter(username='ann').count())"
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
    with urllib.request.urlopen(f"{server.url}/static/beach/tokens.css", timeout=10) as answer:
        body = answer.read()

    assert b"--b-paper" in body
    assert "Warning" not in server.log.read_text()


def test_static_files_are_served_compressed(server: Server) -> None:
    """What the page costs is what goes over the wire, in the demo as in production."""
    for path in ("beach/panel.js", "beach/components.css", "django_htmx/htmx-4.min.js", "beach/mark.svg"):
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
