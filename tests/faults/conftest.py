"""Servers that can be broken: the demo with the laboratory's agent, alone or several on one database."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from tests import needs
from tests.faults.lab.dying import Dying
from tests.faults.lab.gates import Gates
from tests.liveserver import Server, free_port

FAULTS = Path(__file__).parent
LAB = {"DJANGO_SETTINGS_MODULE": "tests.faults.lab.settings"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if FAULTS in item.path.parents:
            item.add_marker("faults")


class LogRow(NamedTuple):
    """A row as the database has it."""

    kind: str
    part_type: str
    turn: int
    data: Any


class Lab:
    """One server, its gates and its database."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.gates = Gates(server.data)
        self.dying = Dying(server.data)

    async def kill(self) -> None:
        await asyncio.to_thread(self.server.kill)

    async def start(self) -> None:
        await asyncio.to_thread(self.server.start)

    async def stop(self) -> None:
        await asyncio.to_thread(self.server.stop)

    async def restart(self) -> None:
        await self.kill()
        await self.start()

    async def shell(self, code: str) -> str:
        """Run code in a management command of its own beside the server."""
        return await asyncio.to_thread(self.server.manage, "shell", "-v", "0", "-c", code)

    def query(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Read the database directly: no process of ours has a say in what it holds."""
        if url := self.server.environ.get("DATABASE_URL"):
            with psycopg.connect(url) as server:
                return server.execute(sql.replace("?", "%s"), parameters).fetchall()  # type: ignore[arg-type]
        connection = sqlite3.connect(f"file:{self.server.data / 'beach.sqlite3'}?mode=ro", uri=True)
        try:
            return connection.execute(sql, parameters).fetchall()
        finally:
            connection.close()

    async def holds(self, sql: str, *rows: tuple[Any, ...], seconds: float = 20) -> None:
        """Until a query gives exactly these rows."""
        deadline = time.monotonic() + seconds
        while (found := self.query(sql)) != list(rows):
            assert time.monotonic() < deadline, f"{sql} gives {found}"
            await asyncio.sleep(0.02)

    def count(self, table: str, where: str = "1=1") -> int:
        number: int = self.query(f"SELECT count(*) FROM {table} WHERE {where}")[0][0]  # noqa: S608
        return number

    def log_of(self, session: str) -> list[LogRow]:
        """The rows of a conversation, in order."""
        found = self.query(
            "SELECT kind, part_type, turn, data FROM envelopes_event WHERE session_id ="
            " (SELECT id FROM envelopes_session WHERE public_id = ?) ORDER BY seq",
            session,
        )
        return [LogRow(*row, json.loads(data) if isinstance(data, str) else data) for *row, data in found]

    def log_is_gap_free(self) -> None:
        for session, last in self.query("SELECT id, last_seq FROM envelopes_session"):
            seqs = self.query("SELECT seq FROM envelopes_event WHERE session_id = ? ORDER BY seq", session)
            assert [seq for (seq,) in seqs] == list(range(1, last + 1))


@pytest.fixture
def make_lab(make_server: Callable[..., Server]) -> Callable[..., Lab]:
    def make(environ: Mapping[str, str] | None = None) -> Lab:
        return Lab(make_server(environ={**LAB, **(environ or {})}))

    return make


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> dict[str, str]:
    """What says to a server which database is its own. Asked for before the server, so that it is there longer."""
    return {"DATABASE_URL": request.getfixturevalue("postgres_url")} if request.param == "postgres" else {}


@pytest.fixture
def lab(make_lab: Callable[..., Lab]) -> Lab:
    return make_lab()


@pytest.fixture
def make_sibling() -> Iterator[Callable[[Lab], Lab]]:
    """Another process on the database of a server that runs already."""
    siblings: list[Server] = []

    def make(first: Lab) -> Lab:
        server = Server(first.server.data, environ=first.server.environ)
        server.log = server.log.with_suffix(f".{len(siblings)}.log")
        siblings.append(server)
        server.start()
        return Lab(server)

    try:
        yield make
    finally:
        for server in siblings:
            server.kill()
    for server in siblings:
        assert server.may_fail or "Traceback" not in server.log.read_text(errors="replace"), server.tail(200)


class OwnRedis:
    """A Redis of this test's own, which may die."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        self.process = subprocess.Popen(
            [*command, "--dir", str(self.folder)], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        with redis.Redis.from_url(self.url, retry=Retry(ConstantBackoff(0.05), 200)) as client:
            client.ping()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    if shutil.which("redis-server") is None:
        needs.absent("redis", "there is no redis-server to start")
    server = OwnRedis(tmp_path)
    try:
        server.start()
        yield server
    finally:
        server.kill()
