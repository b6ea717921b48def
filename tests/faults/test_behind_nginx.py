"""A proxy that keeps answers until it has a page full of them, as nginx does unless it is told otherwise."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from envelopes.peers import PREFIX
from tests.faults.nginx import nginx
from tests.liveserver import Server, free_port

PATIENCE = 60
"""Seconds: for a machine that is busy, and far below what a buffer would hold an event back."""

SERVER = """
server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://127.0.0.1:{behind}; proxy_set_header Host $http_host; }}
}}
"""


@contextmanager
def proxy(behind: int, folder: Path) -> Iterator[int]:
    """nginx with what it does by default; its port."""
    port = free_port()
    with nginx(folder, SERVER.format(port=port, behind=behind), port):
        yield port


def _until(stream: http.client.HTTPResponse, wanted: str) -> None:
    while (line := stream.readline()) != f"{wanted}\n".encode():
        assert line, f"it ended before {wanted}"


@pytest.mark.faults
def test_events_come_through_nginx_as_they_happen(server: Server, tmp_path: Path) -> None:
    token = server.manage("beach", "peer", "add", "desk", "--scopes", "chat,read").strip()
    assert token.startswith(PREFIX)
    with proxy(server.port, tmp_path / "nginx") as port, ExitStack() as stack:
        post, listening = (
            stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)))
            for _ in range(2)
        )
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        post.request("POST", "/api/sessions", "{}", headers)
        session = json.loads(post.getresponse().read())["id"]
        listening.request("GET", f"/api/sessions/{session}/parts", headers=headers)
        stream = stack.enter_context(closing(listening.getresponse()))
        assert stream.status == 200
        # A few hundred bytes, on a connection that stays open: a buffer would keep them.
        _until(stream, "event: upToDate")
        said = json.dumps({"text": "Fly me to Atlantis"})
        post.request(
            "POST", f"/api/sessions/{session}/messages", said, {**headers, "Prefer": "respond-async"}
        )
        answer = post.getresponse()
        answer.read()
        assert answer.status == 202
        _until(stream, "event: textDelta")
        _until(stream, "event: settled")
