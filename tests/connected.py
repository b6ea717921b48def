"""Who is still connected to the database of the tests: PostgreSQL drops none that somebody uses, and says only how many
they are."""

from __future__ import annotations

import os
import threading
from time import monotonic, sleep

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

NAME = 63
"""Bytes that PostgreSQL keeps of what an application calls itself."""

GOING_SECONDS = 5.0
"""How long a connection that was closed may take to be gone from the server, which waits as long itself."""


def install() -> None:
    """Each connection is called by the thread that opened it and the test that ran then."""
    connection_created.connect(_call_it)


def _call_it(connection: BaseDatabaseWrapper, **_: object) -> None:
    if connection.vendor == "postgresql":
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition("::")[2]
        name = f"{threading.current_thread().name} in {test}".encode()[:NAME].decode(errors="ignore")
        connection.connection.execute("SELECT set_config('application_name', %s, false)", [name])


def others(seconds: float = GOING_SECONDS) -> list[str]:
    """All but the connection of this thread: who they are, and what they did last. Empty on SQLite."""
    if connection.vendor != "postgresql":
        return []
    deadline = monotonic() + seconds
    while True:
        with connection.cursor() as cursor:
            # Within a transaction all looks would show what the first has seen.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(
                "SELECT application_name, state, left(query, 200) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            found = [
                f"{name or 'another process'}, {state}: {query}" for name, state, query in cursor.fetchall()
            ]
        if not found or monotonic() > deadline:
            return found
        sleep(0.05)
