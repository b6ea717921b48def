"""A proxy that keeps answers until it has a page full of them, as nginx does unless it is told otherwise."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from envelopes.peers import PREFIX
from tests import needs
from tests.liveserver import Server, free_port

PATIENCE = 60
"""Seconds: for a machine that is busy, and far below what a buffer would hold an event back."""

CONFIGURATION = """
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://127.0.0.1:{behind}; proxy_set_header Host $http_host; }}
    }}
}}
"""


@contextmanager
def proxy(behind: int, folder: Path) -> Iterator[int]:
    """nginx with what it does by default; its port."""
    port = free_port()
    folder.mkdir()
    file = folder / "nginx.conf"
    file.write_text(CONFIGURATION.format(folder=folder, port=port, behind=behind))
    running = subprocess.Popen(
        [needs.nginx(), "-p", str(folder), "-c", str(file), "-e", str(folder / "error.log")]
    )
    try:
        while running.poll() is None:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.02)
        assert running.poll() is None, (folder / "error.log").read_text()
        yield port
    finally:
        running.terminate()
        running.wait(10)


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
