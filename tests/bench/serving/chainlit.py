"""The same streams from Chainlit, by its app and its client in the shared folder.

``PEERS`` names a folder with npm's ``socket.io-client``; the virtual environment with Chainlit is given.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.floors import shared
from tests.bench.serving.processes import CLIENT_CORE, BenchError, Process, clean_environment
from tests.liveserver import free_port


@dataclass(frozen=True)
class Theirs:
    """``share``: of a core; ``p99``: seconds from a token's writing until it was here."""

    a_second: float
    share: float
    p50: float
    p99: float

    @property
    def about(self) -> str:
        return (
            f"Chainlit {self.a_second:,.0f} tokens a second, {self.share:.0%} of a core; "
            f"p50 {self.p50 * 1e3:,.1f} ms, p99 {self.p99 * 1e3:,.1f} ms"
        )


class Chainlit:
    """Raises BenchError where something that it needs is not there, NoFloorsError without the shared folder."""

    def __init__(self, venv: Path, folder: Path) -> None:
        self._command = venv.resolve() / "bin" / "chainlit"
        self._scripts = shared() / "bench" / "serving" / "peers"
        self._folder = folder / "chainlit"
        self._folder.mkdir()
        peers = os.environ.get("PEERS", "")
        for needed in (self._command, self._scripts / "chainlit_app.py", Path(peers) / "node_modules"):
            if not needed.exists():
                raise BenchError(f"Chainlit cannot be measured: {needed} is not there (PEERS={peers!r}).")
        shutil.copy(self._scripts / "chainlit_app.py", self._folder)

    def streamed(self, count: int, hz: float, seconds: float) -> Theirs:
        """`count` streams of `hz` tokens a second each."""
        port = free_port()
        app = self._folder / "chainlit_app.py"
        command = [
            str(self._command),
            "run",
            str(app),
            "--headless",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        environ = clean_environment({"CHAINLIT_TELEMETRY": "false", "CHAINLIT_APP_ROOT": str(self._folder)})
        with Process(command, environ, self._folder / "chainlit.log") as server:
            server.answers(port, "/")
            return self._ask(server, port, count, hz, seconds)

    def _ask(self, server: Process, port: int, count: int, hz: float, seconds: float) -> Theirs:
        script = str(self._scripts / "chainlit_client.cjs")
        words = [str(port), str(count), f"{seconds:g}", f"{hz:g}"]
        client = subprocess.Popen(
            ["taskset", "-c", str(CLIENT_CORE), "node", script, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            return self._follow(server, client)
        finally:
            client.kill()
            client.wait()

    def _follow(self, server: Process, client: subprocess.Popen[str]) -> Theirs:
        """The client says where it stands, a line at a time."""
        assert client.stdin is not None and client.stdout is not None
        used = began = share = 0.0
        for line in client.stdout:
            told: dict[str, Any] = json.loads(line)
            if "ready" in told:
                client.stdin.write("go\n")
                client.stdin.flush()
            elif "measuring" in told:
                used, began = server.cpu(), time.monotonic()
            elif "measured" in told:
                share = (server.cpu() - used) / (time.monotonic() - began)
            elif "error" in (result := told["result"]):
                raise BenchError(f"Chainlit's client: {result['error']}")
            else:
                return Theirs(result["tokens_per_s"], share, result["p50_ms"] / 1e3, result["p99_ms"] / 1e3)
        raise BenchError(f"Chainlit's client ended without a result.\n{server.tail()}")
