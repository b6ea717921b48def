"""What a database is asked by one connection, counted where the database takes it."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection

from tests.bench.serving.app.counting import Counts, PostgresTrace, SqliteTrace


def counting() -> Callable[[], Counts]:
    """Count what the connection of this thread is asked from now on; returns what stops that."""
    counts = Counts()
    raw = connection.connection
    if connection.vendor == "sqlite":
        raw.set_trace_callback(SqliteTrace(counts))

        def read() -> Counts:
            raw.set_trace_callback(None)
            return counts

        return read
    trace = PostgresTrace(raw.pgconn)

    def read_trace() -> Counts:
        raw.pgconn.untrace()
        trace.count(counts)
        trace.close()
        return counts

    return read_trace
