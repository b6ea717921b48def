"""Both databases in one run: the suite's own, and one of the other kind made for a module of tests."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.db.utils import ConnectionHandler
from psycopg import sql

from beachsite.settings.database import database
from envelopes.log.backends.port import Append, Backend, Locked, Outcome, Stored
from envelopes.log.commits import Committer
from envelopes.models import Session, ToolCall, Turn
from tests import needs
from tests.liveserver import Server
from tests.once import made_once, making

OTHER = "other"
MIGRATED = "migrated-postgresql"


def url_of(alias: str) -> str:
    """The URL of what Django knows as ``alias``."""
    known = connections[alias].settings_dict
    if connections[alias].vendor == "sqlite":
        return f"sqlite:///{known['NAME']}"
    who = quote(known["USER"]) + (f":{quote(known['PASSWORD'])}" if known["PASSWORD"] else "")
    return f"postgresql://{who}@{known['HOST']}:{known['PORT'] or 5432}/{known['NAME']}"


def _settings(url: str, options: dict[str, Any]) -> Any:
    config = database(url, Path(), durable=False)
    config["OPTIONS"] |= options
    return ConnectionHandler({"default": config}).databases["default"]


@contextmanager
def registered(alias: str, url: str) -> Iterator[None]:
    """``url`` under the name ``alias``."""
    connections.databases[alias] = _settings(url, {})
    try:
        yield
    finally:
        connections[alias].close()
        del connections[alias]
        del connections.databases[alias]


@contextmanager
def pointed(alias: str, url: str, **options: Any) -> Iterator[None]:
    """Whoever connects to ``alias`` meanwhile comes to ``url``; connections that are open stay where they are."""
    before = connections.databases[alias]
    connections.databases[alias] = _settings(url, options)
    try:
        yield
    finally:
        connections.databases[alias] = before


@contextmanager
def migrated(vendor: str, factory: pytest.TempPathFactory) -> Iterator[str]:
    """The alias of a database of this kind: the suite's own where it is one, else a copy of one that is migrated once
    in a run."""
    if connection.vendor == vendor:
        yield "default"
        return
    if vendor == "sqlite":
        file = factory.mktemp("other") / "other.sqlite3"
        shutil.copyfile(made_once(factory, "migrated.sqlite3", _migrate_sqlite), file)
        with registered(OTHER, f"sqlite:///{file}"):
            yield OTHER
        return
    server, name = needs.postgres(), f"beach_commits_{uuid.uuid4().hex[:8]}"
    template = made_once(factory, MIGRATED, migrate_postgres).read_text()
    with psycopg.connect(server, autocommit=True) as made:
        made.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        )
        try:
            with registered(OTHER, urlsplit(server)._replace(path=f"/{name}").geturl()):
                yield OTHER
        finally:
            made.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _migrate(url: str) -> None:
    with registered(OTHER, url):
        call_command("migrate", database=OTHER, verbosity=0)


def _migrate_sqlite(file: Path) -> None:
    # The last connection that closes takes the side files with it.
    _migrate(f"sqlite:///{file}")


def migrate_postgres(file: Path) -> None:
    """The name of the database is what the file holds, so that `drop_migrated` finds it. Migrated by a process of its
    own: what migrations ask besides would be asked of the database of the tests."""
    server, name = needs.postgres(), f"beach_migrated_{uuid.uuid4().hex[:8]}"
    file.write_text(name)
    with psycopg.connect(server, autocommit=True) as made:
        made.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    url = urlsplit(server)._replace(path=f"/{name}").geturl()
    Server(file.with_name("data"), environ={"DATABASE_URL": url}).manage("migrate", "-v", "0")


def drop_migrated(folder: Path) -> None:
    """When the run that has its files in ``folder`` is over."""
    for file in (folder / MIGRATED, making(folder, MIGRATED)):
        if file.exists():
            drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(file.read_text()))
            with psycopg.connect(needs.POSTGRES, autocommit=True) as server:
                server.execute(drop)


def make_session(alias: str) -> Session:
    return Session.objects.using(alias).create(actor="billing")


def make_turn(session: Session) -> Turn:
    """The first turn of a session, run by its first attempt."""
    session.turn_count = 1
    session.save(update_fields=["turn_count"])
    return Turn.objects.using(session._state.db).create(
        session=session, number=1, actor="billing", status="running", attempt=1
    )


def make_job(turn: Turn) -> ToolCall:
    """A job of a turn, run by its first attempt."""
    return ToolCall.objects.using(turn._state.db).create(
        session_id=turn.session_id, turn=turn, call_id="job", name="job", state="running", attempt=1
    )


def append_and_wait(committer: Committer, append: Append) -> Stored:
    """From a thread, as an event loop of its own."""

    async def stored() -> Stored:
        return await committer.append(append)

    return asyncio.run(stored())


def write_when_free(backend: Backend, group: Sequence[Append]) -> list[Outcome]:
    """What becomes of ``group``, whose members have one session, once nobody else has that locked."""
    while True:
        outcomes = backend.write(group)
        if not any(isinstance(outcome, Locked) for outcome in outcomes):
            return outcomes
        sleep(0.005)
