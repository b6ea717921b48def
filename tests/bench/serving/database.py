"""Scratch databases: migrated, filled by the bench, gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import sql

from beachsite.suite import ROOT
from tests.bench.serving.processes import BenchError, clean_environment, run
from tests.needs import POSTGRES

Kind = Literal["sqlite", "postgres"]

SETTINGS = "tests.bench.serving.app.settings"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder beside the product's own data, so on the same disk."""
    parent = ROOT / "var"
    parent.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def scratch_postgres(name: str = "", *, template: str = "template1") -> Iterator[str]:
    """The URL of a new database; dropped afterwards even if something still holds it.

    Raises BenchError where there is no server, or none that lets us.
    """
    name = name or _name("hand")
    made = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
    # The server makes it to the end, whoever has gone meanwhile; and then nobody would drop it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        _execute(made)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield f"{POSTGRES.rsplit('/', 1)[0]}/{name}"
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _execute(statement: sql.Composed) -> None:
    try:
        with psycopg.connect(POSTGRES, autocommit=True, connect_timeout=3) as server:
            server.execute(statement)
    except psycopg.Error as error:
        raise BenchError(f"PostgreSQL: {error}") from error


class Template:
    """A migrated database that is copied: every server gets one that no other has left anything in."""

    def __init__(self, kind: Kind, folder: Path, stack: ExitStack) -> None:
        self.kind, self._folder = kind, folder
        self._numbers = count()
        where = ""
        if kind == "postgres":
            self._name = _name("template")
            where = stack.enter_context(scratch_postgres(self._name))
        self.environ = self._environ(self._new_folder(), where)
        manage(self.environ, "migrate", "-v", "0")

    @contextmanager
    def copy(self) -> Iterator[dict[str, str]]:
        """The environment of a server on a copy, which is gone afterwards. Nobody may be connected to the template."""
        folder = self._new_folder()
        if self.kind == "postgres":
            with scratch_postgres(_name("copy"), template=self._name) as url:
                yield self._environ(folder, url)
            return
        for file in Path(self.environ["BEACH_DATA"]).glob("*.sqlite3*"):
            shutil.copy(file, folder)
        yield self._environ(folder, "")
        shutil.rmtree(folder)

    def _new_folder(self) -> Path:
        folder = self._folder / f"{self.kind}-{next(self._numbers)}"
        folder.mkdir()
        return folder

    def _environ(self, data: Path, url: str) -> dict[str, str]:
        return clean_environment(
            {
                "BEACH_DATA": str(data),
                "BEACH_LOG_LEVEL": "WARNING",
                "BEACH_SCRIPT_PACE": "0",
                # One visitor opens all of the sockets of some rows.
                "BEACH_SOCKETS_PER_CALLER": "10000",
                "BEACH_STREAMS_PER_CALLER": "10000",
                "BEACH_STREAMS": "10000",
                "DJANGO_SETTINGS_MODULE": SETTINGS,
                "SECRET_KEY": "bench" * 12,
                **({"DATABASE_URL": url} if url else {}),
            }
        )


def _name(what: str) -> str:
    return f"beach_bench_{what}_{os.getpid()}_{time.monotonic_ns()}"


def manage(environ: dict[str, str], *arguments: str) -> str:
    """What a management command prints."""
    return run([sys.executable, "manage.py", *arguments], environ)
