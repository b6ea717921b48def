"""nginx in front of processes of ours, on loopback: one process in the foreground, in a folder of its own."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests import needs

_CONFIGURATION = """
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 128; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {inside}
}}
"""


@contextmanager
def nginx(folder: Path, inside: str, port: int) -> Iterator[None]:
    """Runs with ``inside`` in its http block, of which a server listens on ``port``, until the block ends. ``folder``
    is made."""
    folder.mkdir()
    file = folder / "nginx.conf"
    file.write_text(_CONFIGURATION.format(folder=folder, inside=inside))
    log = folder / "error.log"
    running = subprocess.Popen([needs.nginx(), "-p", str(folder), "-c", str(file), "-e", str(log)])
    try:
        while running.poll() is None:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.02)
        assert running.poll() is None, log.read_text()
        yield
    finally:
        running.terminate()
        running.wait(10)
