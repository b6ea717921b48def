"""Statements and transactions, counted where the database takes them, whoever sends them.

SQLite tells its trace callback; libpq writes what the server says to a trace (PQtrace). Neither passes by a connection
that was made without Django.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from functools import partial
from typing import IO, Any

_ENDS = {"COMMIT", "END"}
_STEPS = {"BEGIN", "ROLLBACK", "SAVEPOINT", "RELEASE", *_ENDS}
_SETUP = {"PRAGMA", "SET", "SHOW", "DISCARD", "RESET", "DEALLOCATE", "LISTEN", "UNLISTEN"}
_WRITES = {"INSERT", "UPDATE", "DELETE", "REPLACE"}


class Counts:
    """``statements``: what reads or writes rows. ``transactions``: commits, those of a single write outside of a
    transaction included. ``setup``: what a new connection says of itself. ``verbs``: each first word."""

    def __init__(self) -> None:
        self.statements = self.transactions = self.setup = 0
        self.verbs: Counter[str] = Counter()

    def add(self, verb: str, *, inside: bool) -> None:
        """One that the database took; ``inside`` a transaction that was begun."""
        self.verbs[verb] += 1
        if verb in _SETUP:
            self.setup += 1
        elif verb in _STEPS:
            self.transactions += verb in _ENDS
        else:
            self.statements += 1
            self.transactions += verb in _WRITES and not inside

    def as_dict(self) -> dict[str, Any]:
        return {
            "statements": self.statements,
            "transactions": self.transactions,
            "setup": self.setup,
            "verbs": dict(self.verbs),
        }


_sqlite = Counts()


class SqliteTrace:
    """The trace callback of one connection."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._inside = False

    def __call__(self, statement: str) -> None:
        verb = statement.lstrip().split(None, 1)[0].upper().rstrip(";") if statement.strip() else ""
        if not verb or verb.startswith("--"):
            # Not a statement that somebody sent: what a trigger runs.
            return
        self._counts.add(verb, inside=self._inside)
        if verb == "BEGIN":
            self._inside = True
        elif verb in {"ROLLBACK", *_ENDS}:
            # Back to a savepoint ends nothing.
            self._inside = verb == "ROLLBACK" and " TO " in statement.upper()


class TracedConnection(sqlite3.Connection):
    """One that counts."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.set_trace_callback(SqliteTrace(_sqlite))


class PostgresTrace:
    """The trace of one connection, read anew for each count."""

    def __init__(self, pgconn: Any) -> None:
        from psycopg.pq import Trace

        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the connection
        pgconn.trace(self._file.fileno())
        pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)

    def count(self, counts: Counts) -> None:
        inside = False
        self._file.seek(0)
        for line in self._file:
            fields = line.split(b"\t")
            if len(fields) < 3 or fields[0] != b"B":
                continue
            match fields[2].strip(), fields[3].strip() if len(fields) > 3 else b"":
                case b"CommandComplete", told:
                    verb = told.strip(b'"').split(None, 1)[0].decode()
                    counts.add(verb, inside=inside)
                case b"ReadyForQuery", state:
                    inside = state != b"I"

    def close(self) -> None:
        """For a connection whose trace has ended before it."""
        self._file.close()


_postgres: list[PostgresTrace] = []


def install() -> None:
    """Count what every connection of this process does from now on."""
    import psycopg

    traced = partial(sqlite3.connect, factory=TracedConnection)
    sqlite3.connect = sqlite3.dbapi2.connect = traced  # type: ignore[assignment]  # only overloads differ
    for kind in (psycopg.Connection, psycopg.AsyncConnection):
        _trace_each(kind)


def _trace_each(kind: Any) -> None:
    plain = kind.__init__

    def traced(self: Any, pgconn: Any, *arguments: Any, **named: Any) -> None:
        plain(self, pgconn, *arguments, **named)
        _postgres.append(PostgresTrace(pgconn))

    kind.__init__ = traced


def counted() -> dict[str, Any]:
    """Everything since `install`."""
    if not _postgres:
        return _sqlite.as_dict()
    counts = Counts()
    for trace in _postgres:
        trace.count(counts)
    return counts.as_dict()
