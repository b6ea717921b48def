"""Fixtures for every test: the services that may be absent, and real servers."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from asgiref.sync import SyncToAsync
from django.db import connections
from psycopg import sql

from beachsite import suite
from envelopes.database_threads import database_threads
from tests import connected, emptying, examples, needs
from tests.liveserver import ACCOUNTS, Server
from tests.once import made_once
from tests.outcome import FAILED
from tests.shared import SHARED, fold_skip

BROWSER = Path(__file__).parent / "browser"
# Before any module with a property is imported: it takes what it does not say itself from the profile of that moment.
examples.load()
emptying.install()
connected.install()
# As our own commands have it: what is imported and collected stays, and to search it again and again takes a seventh of
# a run. What tests leave in circles is searched still, only in larger heaps; pytest searches all of it at the end.
gc.set_threshold(50_000, 10, 20)
# A shell that starts a job in the background has it ignore interrupts, and so would every server of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SERVICES = {"postgres_url": "postgres", "redis_url": "redis", "shared": "shared"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Browser tests need a process of their own (see beachsite/suite.py): only when they are asked for by name."""
    asked = any("browser" in argument for argument in config.args)
    return True if collection_path == BROWSER and not asked else None


def pytest_report_header(config: pytest.Config) -> str:
    """So that nobody takes a plain `pytest` for the whole suite."""
    return "browser tests: pytest tests/browser; everything: manage.py test"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Many tests only skip without the shared data; where it is required, its absence ends the run at once."""
    if SHARED is None and "shared" in suite.required(os.environ):
        raise pytest.UsageError("BEACH_REQUIRE names shared, but there is no such data: set BEACH_SHARED.")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Modules and ten thousand tests are there to the end: tests that search for garbage need not look through them."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks for a service carries its marker."""
    for item in items:
        for fixture, marker in SERVICES.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(marker)


def pytest_unconfigure(config: pytest.Config) -> None:
    """SQLite leaves its side files when a thread still held a connection as the database was removed. Files of
    conversations are as old as their rows. What workers share is over with the last of them."""
    folder = config._tmp_path_factory._basetemp
    if folder is not None and not hasattr(config, "workerinput") and any(folder.glob("migrated-postgresql*")):
        from tests.envelopes.log.databases import drop_migrated

        drop_migrated(folder)
    for leftover in (suite.ROOT / "var" / "test").glob(f"{os.getpid()}.sqlite3*"):
        leftover.unlink()
    shutil.rmtree(suite.ROOT / "var" / "test" / f"{os.getpid()}.artifacts", ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Let fixtures know, when they tidy up, whether their test failed."""
    report = yield
    fold_skip(report)
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Asgiref keeps one thread for synchronous code outside of requests, and that thread its connection; the threads of
    the product and the committer keep theirs.

    PostgreSQL drops no database that someone is connected to.
    """
    from django.contrib.auth.models import Group

    with django_db_blocker.unblock():
        # Roles that a migration makes: the first test that commits leaves none, so none begins with them.
        Group.objects.all().delete()
    yield
    from envelopes.log.commits import committer

    assert committer.stop(10)
    assert database_threads.stop(seconds=10)
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()
    with django_db_blocker.unblock():
        assert connected.others() == [], "somebody keeps a connection to the database of the tests"


@pytest.fixture(autouse=True)
def _committer_takes_on() -> None:
    """A test that ends what a process does ends the committer, which the next one may need without a runner."""
    from envelopes.log.commits import committer

    committer.start()


@pytest.fixture
def files(settings: Any, tmp_path: Path) -> Path:
    """The storage of files, empty: a folder of this test alone."""
    folder = tmp_path / "artifacts"
    kept = settings.STORAGES["artifacts"]
    settings.STORAGES = {
        **settings.STORAGES,
        "artifacts": {**kept, "OPTIONS": {**kept["OPTIONS"], "location": folder}},
    }
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The specification data beside the checkout."""
    return needs.shared()


@pytest.fixture
def redis_url() -> str:
    """A Redis server. Others use it too: groups and keys need names that nobody else has."""
    return needs.redis_server()


@pytest.fixture
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL database that is migrated, dropped afterwards even if something still holds it."""
    from tests.envelopes.log.databases import MIGRATED, migrate_postgres

    server = needs.postgres()
    name = f"beach_{uuid.uuid4().hex[:12]}"
    template = made_once(tmp_path_factory, MIGRATED, migrate_postgres).read_text()
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        )
        # What is killed here are processes, not the machine.
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name))
        )
        try:
            yield urlsplit(server)._replace(path=f"/{name}").geturl()
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder after its first start: migrated, with accounts, ``ACCOUNTS`` among them. Copied, so that no test
    pays for that again; made by one worker for all."""

    def make(data: Path) -> None:
        server = Server(data)
        server.manage("demo", "--data", str(data), "--no-input", "--check")
        server.add_users(ACCOUNTS)

    return made_once(tmp_path_factory, "demo-data", make)


@pytest.fixture
def make_server(
    demo_data: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Server]]:
    """Start as many servers as a test needs. None outlives it, and none may have logged a traceback.

    A test that provokes one on purpose says so: `server.may_fail = True`.
    """
    servers: list[Server] = []

    def make(*, environ: Mapping[str, str] | None = None) -> Server:
        data = tmp_path / f"data{len(servers)}"
        shutil.copytree(demo_data, data)
        server = Server(data, environ=environ)
        servers.append(server)
        server.start()
        return server

    try:
        yield make
    finally:
        for server in servers:
            server.kill()
    if request.node.stash.get(FAILED, False):
        for server in servers:
            print(f"\n---- log of {server.url} ----\n{server.tail()}")
    for server in servers:
        assert server.may_fail or "Traceback (most recent call last)" not in server.log.read_text(
            errors="replace"
        ), f"The server logged an error:\n{server.tail(200)}"


@pytest.fixture
def server(make_server: Callable[..., Server]) -> Server:
    """One running server with fresh data."""
    return make_server()
