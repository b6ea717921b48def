"""Dying at a commit: a server that was told so ends itself with SIGKILL, right before its n-th commit or after it.

A commit is whatever makes something durable: the end of a transaction that has written, a write outside of any, and a
group of appends. Before it, everything is in the transaction; after it, nobody has been told yet.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

When = Literal["before", "after"]

_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE)\b")


class Dying:
    """The order to die. It is a file, so whoever starts after that does not die of it again."""

    def __init__(self, data: Path) -> None:
        self._order = data / "gates" / "die"
        self._lock = threading.Lock()
        self._ordered = ""
        self._commits = 0

    # -- the test -------------------------------------------------------------------------------------------------

    def order(self, when: When, number: int, what: str = "any") -> None:
        """Die right before or after the commit with this number, counted from now on: ``any``, or only ``group`` for
        groups of appends."""
        # The last word makes it another order than the one before.
        self._order.with_suffix(".new").write_text(f"{when} {number} {what} {uuid.uuid4().hex}")
        self._order.with_suffix(".new").rename(self._order)

    def withdraw(self) -> bool:
        """Whether nobody has died of it yet: then nobody will."""
        try:
            self._order.unlink()
        except FileNotFoundError:
            return False
        return True

    # -- the server -----------------------------------------------------------------------------------------------

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Round a commit."""
        if self.is_due("before"):
            self.now()
        yield
        if self.is_due("after"):
            self.now()

    def is_due(self, when: When, what: str = "") -> bool:
        """Whether this is the commit to die at: asked once for each ``when`` of each commit."""
        with self._lock:
            try:
                ordered = self._order.read_text()
            except FileNotFoundError:
                return False
            if ordered != self._ordered:
                self._ordered, self._commits = ordered, 0
            ordered_when, number, ordered_what, _ = ordered.split()
            if ordered_when != when or ordered_what not in {"any", what}:
                return False
            self._commits += 1
            if self._commits < int(number):
                return False
            self._order.unlink(missing_ok=True)
            return True

    def now(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def install(dying: Dying) -> None:
    """Let every connection of this process die as it is told."""
    _in_django(dying)
    _in_groups_on_sqlite(dying)
    _in_groups_on_postgres(dying)


def _in_django(dying: Dying) -> None:
    written: set[int] = set()

    def executed(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if not _WRITES.match(sql):
            return execute(sql, params, many, context)
        if context["connection"].in_atomic_block:
            written.add(id(context["connection"]))
            return execute(sql, params, many, context)
        with dying.committing():
            return execute(sql, params, many, context)

    def watch(connection: BaseDatabaseWrapper, **_: Any) -> None:
        if executed not in connection.execute_wrappers:
            connection.execute_wrappers.append(executed)

    plain = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]

    def commit(self: BaseDatabaseWrapper) -> None:
        if id(self) not in written:
            plain(self)
            return
        written.discard(id(self))
        with dying.committing():
            plain(self)

    connection_created.connect(watch, weak=False)
    BaseDatabaseWrapper._commit = commit  # type: ignore[attr-defined]


def _in_groups_on_sqlite(dying: Dying) -> None:
    from envelopes.log.backends import sqlite

    plain = sqlite.SqliteBackend.write

    def write(self: sqlite.SqliteBackend, group: Sequence[Any]) -> Any:
        if dying.is_due("before", "group"):
            self._connected().connection.create_function("die", 0, dying.now)
            sqlite.COMMIT = "SELECT die()"
        outcomes = plain(self, group)
        if dying.is_due("after", "group"):
            dying.now()
        return outcomes

    sqlite.SqliteBackend.write = write  # type: ignore[method-assign]


def _in_groups_on_postgres(dying: Dying) -> None:
    from envelopes.log.backends.postgres import PostgresBackend

    plain = PostgresBackend._run

    def run(self: PostgresBackend, connection: Any, lock: bytes, *given: bytes) -> Any:
        if dying.is_due("before", "group"):
            sessions, *rows = given
            connection.enter_pipeline_mode()
            connection.send_query_prepared(b"beach_begin", None)
            connection.send_query_prepared(lock, [sessions])
            connection.send_query_prepared(b"beach_write", rows)
            connection.pipeline_sync()
            self._results(connection)
            dying.now()
        results = plain(self, connection, lock, *given)
        if dying.is_due("after", "group"):
            dying.now()
        return results

    PostgresBackend._run = run  # type: ignore[method-assign,assignment]
