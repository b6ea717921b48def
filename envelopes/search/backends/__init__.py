"""Looking up tokens: SQL by hand, one small implementation for each database, tested against each other."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DEFAULT_DB_ALIAS, connections

from envelopes.search.backends.port import Backend
from envelopes.search.backends.postgres import PostgresBackend
from envelopes.search.backends.sqlite import SqliteBackend

_BY_VENDOR: dict[str, Callable[[str], Backend]] = {"sqlite": SqliteBackend, "postgresql": PostgresBackend}


def backend_for(alias: str = DEFAULT_DB_ALIAS) -> Backend:
    """The implementation for the database that Django knows as ``alias``."""
    return _BY_VENDOR[connections[alias].vendor](alias)
