"""The short way into the log: SQL by hand, one small implementation for each database, tested against each other."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.log.backends.port import Backend
from envelopes.log.backends.postgres import PostgresBackend
from envelopes.log.backends.sqlite import SqliteBackend

_BY_VENDOR: dict[str, Callable[[str], Backend]] = {"sqlite": SqliteBackend, "postgresql": PostgresBackend}


def backend_for(alias: str = DEFAULT_DB_ALIAS) -> Backend:
    """The implementation for the database that Django knows as ``alias``; it connects when it is first used."""
    return _BY_VENDOR[connections[alias].vendor](alias)
