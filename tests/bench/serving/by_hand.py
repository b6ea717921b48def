"""Floors that need no server: rows in SQL by hand, an update in the engine. Prints seconds of processor time as JSON.

``python -m tests.bench.serving.by_hand KIND WHERE ROWS``: a path of a file that is not there yet, or a PostgreSQL URL.
The tables are as plain as the product's log can be (number, kind, actor, turn, JSON, time; unique by session and
number) and the floor's own, so that it stays where it is.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any

import psycopg

from a2ui import Engine
from tests.bench.serving.app.surfaces import created, part, updated

_TABLES = """
CREATE TABLE session (id INTEGER PRIMARY KEY, last_seq BIGINT NOT NULL, updated_at TIMESTAMP NOT NULL);
CREATE TABLE turn (
    id INTEGER PRIMARY KEY, session_id INTEGER NOT NULL, status VARCHAR(9) NOT NULL, messages TEXT NOT NULL
);
CREATE INDEX turn_status ON turn (status, session_id);
CREATE TABLE event (
    id {serial}, session_id INTEGER NOT NULL, seq BIGINT NOT NULL, kind VARCHAR(16) NOT NULL,
    part_type VARCHAR(64) NOT NULL, audience VARCHAR(9) NOT NULL, actor VARCHAR(64) NOT NULL, turn INTEGER NOT NULL,
    data {json} NOT NULL, at TIMESTAMP NOT NULL
);
CREATE UNIQUE INDEX event_seq ON event (session_id, seq);
INSERT INTO session VALUES (1, 0, CURRENT_TIMESTAMP)
"""
_NUMBER = "UPDATE session SET last_seq = last_seq + 1, updated_at = CURRENT_TIMESTAMP WHERE id = ? RETURNING last_seq"
_ROW = (
    "INSERT INTO event (session_id, seq, kind, part_type, audience, actor, turn, data, at) "
    "VALUES (?, ?, 'part', 'a2ui-surface', 'delivered', 'bench', 1, ?, CURRENT_TIMESTAMP)"
)
_TURN = "INSERT INTO turn VALUES (?, 1, 'queued', '[]')"
_TURN_IS = "UPDATE turn SET status = ?, messages = ? WHERE id = ?"
_TURN_OF = "SELECT id, status, messages FROM turn WHERE session_id = ? AND status = ?"
_AT_ONCE = 50


class Sqlite:
    """The same few calls on either database: `run` a statement, its rows if it gives any."""

    def __init__(self, where: str) -> None:
        self._connection = sqlite3.connect(where, isolation_level=None)
        self._cursor = self._connection.cursor()
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
            self._cursor.execute(f"PRAGMA {pragma}")
        for table in _TABLES.split(";"):
            self._cursor.execute(table.format(serial="INTEGER PRIMARY KEY", json="TEXT"))

    def run(self, statement: str, *values: Any) -> list[Any]:
        return self._cursor.execute(statement, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._cursor.execute("BEGIN IMMEDIATE")
        yield
        self._cursor.execute("COMMIT")


class Postgres:
    """The other one."""

    def __init__(self, where: str) -> None:
        self._connection = psycopg.connect(where, autocommit=True, prepare_threshold=1)
        for table in _TABLES.split(";"):
            self._connection.execute(table.format(serial="BIGSERIAL PRIMARY KEY", json="JSONB"))

    def run(self, statement: str, *values: Any) -> list[Any]:
        cursor = self._connection.execute(statement.replace("?", "%s"), values)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        yield
        self._connection.execute("COMMIT")


Hand = Sqlite | Postgres


def _add(hand: Hand, data: str, *, numbered: int = 0) -> int:
    number = numbered or int(hand.run(_NUMBER, 1)[0][0])
    hand.run(_ROW, 1, number, data)
    return number


def rows(hand: Hand, data: str) -> None:
    """Fifty rows in one transaction, each with a number of its own."""
    with hand.transaction():
        for _ in range(_AT_ONCE):
            _add(hand, data)


def turn(hand: Hand, data: str, turn_id: int) -> None:
    """Six rows in twelve statements and three transactions: said, begun, done."""
    with hand.transaction():  # 4: number, message, turn, queued
        number = _add(hand, data)
        hand.run(_TURN, turn_id)
        _add(hand, data, numbered=number + 1)
    with hand.transaction():  # 3: which, running, its row
        hand.run(_TURN_OF, 1, "queued")
        hand.run(_TURN_IS, "running", "[]", turn_id)
        _add(hand, data, numbered=number + 2)
    with hand.transaction():  # 5: three rows, settled, the last number
        for after in (3, 4, 5):
            _add(hand, data, numbered=number + after)
        hand.run(_TURN_IS, "settled", data, turn_id)
        hand.run("UPDATE session SET last_seq = ? WHERE id = ?", number + 5, 1)


def per_call(call: Callable[[int], None], count: int) -> float:
    """Seconds of processor time of one of so many calls, the first tenth not counted."""
    warm = max(3, count // 10)
    for number in range(warm):
        call(number)
    began = process_time()
    for number in range(count):
        call(warm + number)
    return (process_time() - began) / count


def engine(count: int) -> float:
    """Seconds of applying one update and flushing it."""
    surfaces = Engine().surfaces()
    for message in created("live", 5):
        assert not surfaces.apply(message, owner="bench")
    surfaces.flush()

    def once(number: int) -> None:
        surfaces.apply(updated(f"@{number}@"), owner="bench")
        surfaces.flush()

    return per_call(once, count)


def main(kind: str, where: str, count: str) -> None:
    hand: Hand = Sqlite(where) if kind == "sqlite" else Postgres(where)
    data = json.dumps({"part": part([updated("@123456789012345@123456789012345@")]), "turnState": "awaiting"})
    row = per_call(lambda _: rows(hand, data), max(3, int(count) // _AT_ONCE)) / _AT_ONCE
    whole = per_call(lambda number: turn(hand, data, number + 1), max(5, int(count) // 10))
    sys.stdout.write(json.dumps({"row": row, "turn": whole, "engine": engine(int(count))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
