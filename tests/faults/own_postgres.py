"""A PostgreSQL of a test's own: a cluster in a scratch folder, which may be restarted and may crash."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from tests import needs
from tests.liveserver import free_port


def _program(name: str) -> str:
    """Debian keeps the server's programs away from the path."""
    found = [*Path("/usr/lib/postgresql").glob(f"*/bin/{name}")] if shutil.which(name) is None else []
    program = shutil.which(name) or (str(max(found)) if found else None)
    if program is None:
        needs.absent("postgres", f"there is no {name} to start a server with")
    return program


def _somebody() -> dict[str, Any]:
    """Who runs it: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {user.pw_name: user for user in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class OwnPostgres:
    """``url`` is that of its database."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._port = free_port()
        self._somebody = _somebody()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://beach@127.0.0.1:{self._port}/postgres"

    def make(self) -> None:
        if self._somebody:
            os.chown(self._folder, self._somebody["user"], self._somebody["group"])
        initdb = [_program("initdb"), "-D", str(self._data), "-U", "beach", "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [*initdb, "--locale=C", "--no-sync"],
            check=True, cwd=self._folder, stdout=subprocess.DEVNULL, **self._somebody,
        )  # fmt: skip

    def start(self) -> None:
        """Return when it answers."""
        listening = ["-h", "127.0.0.1", "-p", str(self._port), "-k", ""]
        self._process = subprocess.Popen(
            [_program("postgres"), "-D", str(self._data), *listening],
            cwd=self._folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            **self._somebody,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=3).close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, "PostgreSQL does not come up"
                time.sleep(0.05)
            else:
                return

    def shut_down(self) -> None:
        """As an upgrade does: sessions are cut, what was committed is written out."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """As when its memory runs out: it has to recover what was committed when it starts."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """One that is up, and gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="beach-postgres-") as folder:
        server = OwnPostgres(Path(folder))
        server.make()
        try:
            server.start()
            yield server
        finally:
            server.crash()
