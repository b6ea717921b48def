"""The server of a deployment, in a process of its own: it opens, takes everybody at once, and ends as it should."""

from __future__ import annotations

import asyncio
import functools
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from websockets.asyncio.client import connect

from beachsite.suite import ROOT
from envelopes.serving import daphne_server as serving
from tests.liveserver import Server
from tests.visitor import Visitor


@pytest.fixture
def serve(tmp_path: Path, demo_data: Path) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def make(*options: str, **environ: str) -> Server:
        shutil.copytree(demo_data, tmp_path / "data")
        server = Server(tmp_path / "data", command=("serve", *options), environ=environ)
        servers.append(server)
        server.start()
        return server

    try:
        yield make
    finally:
        for server in servers:
            server.kill()


async def test_it_serves_pages_and_sockets_and_tells_them_to_come_back_when_it_ends(
    serve: Callable[..., Server],
) -> None:
    server = await asyncio.to_thread(serve)
    process = server.process
    assert process is not None
    visitor = await (await Visitor.arrive(server)).connect()
    await visitor.load()

    process.send_signal(signal.SIGTERM)

    assert await visitor.ended() == 1012
    assert await asyncio.to_thread(process.wait, 10) == 0
    said = server.log.read_text()
    assert f"Serving on {server.url}/\n" in said
    assert "Traceback" not in said


async def test_three_hundred_that_come_at_once_are_all_greeted(serve: Callable[..., Server]) -> None:
    """Stopped, it accepts nobody: all of them have to find a place in the queue."""
    server = await asyncio.to_thread(functools.partial(serve, BEACH_SOCKETS_PER_CALLER="300"))
    process = server.process
    assert process is not None
    visitor = await Visitor.arrive(server)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())}

    async def waiting() -> socket.socket:
        one = socket.socket()
        one.setblocking(False)
        await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", server.port))
        return one

    process.send_signal(signal.SIGSTOP)
    try:
        async with asyncio.timeout(20):
            queue = await asyncio.gather(*(waiting() for _ in range(300)))
    finally:
        process.send_signal(signal.SIGCONT)

    async def greeted(one: socket.socket) -> str:
        address = f"{server.ws_url}/ws/chat/{visitor.session}/"
        origin: Any = server.url
        async with connect(
            address, sock=one, origin=origin, additional_headers=headers, open_timeout=60
        ) as wire:
            await wire.send(json.dumps({"type": "hello", "after": 0}))
            return str(json.loads(await wire.recv())["type"])

    assert await asyncio.gather(*(greeted(one) for one in queue)) == ["welcome"] * 300


def test_a_unix_socket_in_place_of_a_port(tmp_path: Path) -> None:
    # With a colon, which means something in Twisted's words for an endpoint.
    path = tmp_path / "a:b"
    server = Server(tmp_path / "data")
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--proxy-headers", "--unix", str(path)],
        cwd=ROOT,
        env=server.environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Serving on {path}\n"
        connection = http.client.HTTPConnection("127.0.0.1")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(path))
        connection.request("GET", "/healthz", headers={"X-Forwarded-For": "203.0.113.9"})
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", server.port))
        taken.listen()
        answer = subprocess.run(
            [sys.executable, "manage.py", "serve", "--port", str(server.port)],
            cwd=ROOT,
            env=server.environ,
            capture_output=True,
            text=True,
            check=False,
        )

    assert answer.returncode == 1
    assert f"It cannot listen on {server.url}/" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The endpoints that would have been served."""
    endpoints: list[str] = []

    def serve(endpoint: str, listening: Callable[[], None], *, proxy_headers: bool) -> bool:
        endpoints.append(endpoint)
        return True

    monkeypatch.setattr(serving, "serve", serve)
    return endpoints


def test_what_the_deployment_check_calls_an_error_is_refused(settings: Any, served: list[str]) -> None:
    call_command("serve", stderr=StringIO())
    settings.SECURE_REFERRER_POLICY = "nonsense"
    with pytest.raises(SystemCheckError, match=r"security\.E023"):
        call_command("serve", stderr=StringIO())

    assert len(served) == 1


def test_an_address_of_either_family(served: list[str]) -> None:
    for host in ("10.0.0.1", "::1", "[::1]"):
        call_command("serve", "--host", host, "--port", "8400", stderr=StringIO())

    assert [endpoint.rpartition(":")[0] for endpoint in served] == [
        "tcp:port=8400:interface=10.0.0.1",
        *[r"tcp:port=8400:interface=\:\:1"] * 2,
    ]


def test_what_is_no_port_is_refused(served: list[str]) -> None:
    with pytest.raises(CommandError, match="from 1 to 65535"):
        call_command("serve", "--port", "0")

    assert served == []


def test_a_project_that_names_no_application_is_told(settings: Any) -> None:
    settings.ASGI_APPLICATION = None

    with pytest.raises(CommandError, match="Set ASGI_APPLICATION to the application of the project"):
        call_command("serve")
