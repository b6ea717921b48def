"""What the bench of the served app makes of what it measured."""

from __future__ import annotations

import math
import sqlite3

import pytest

from tests.bench.serving.app.counting import Counts, SqliteTrace
from tests.bench.serving.bench import Row
from tests.bench.serving.figures import quantile, slope, waits_between


def test_a_quantile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert quantile(values, 0.5) == 51
    assert quantile(values, 0.99) == 100
    assert quantile(values, 1) == 100
    assert quantile([7.0], 0.99) == 7
    assert math.isnan(quantile([], 0.5))


def test_the_slope_of_a_line_is_found_among_noise() -> None:
    points = [(x, 3 + 0.5 * x + noise) for x, noise in zip(range(6), (0.1, -0.1) * 3, strict=True)]
    assert slope([(x, 3 + 0.5 * x) for x in range(6)]) == pytest.approx(0.5)
    assert slope(points) == pytest.approx(0.5, abs=0.02)
    assert slope([(1, 2), (1, 3)]) == 0


def test_who_hears_nothing_waits_all_the_time() -> None:
    assert waits_between([], 10, 16) == [6]
    assert waits_between([11, 13], 10, 16) == [1, 2, 3]


def test_a_row_says_why_it_has_no_value() -> None:
    row = Row("carried", "a second", 0.9, least=True)
    assert row.shown((1.0, "")).ok
    assert not row.shown((0.8, "")).ok
    assert row.shown((None, "no server")).status == "not run"


def test_sqlite_counts_commits_and_single_writes_as_transactions() -> None:
    counts = Counts()
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE t (a)")
    connection.set_trace_callback(SqliteTrace(counts))
    for statement in (
        "PRAGMA synchronous=NORMAL",
        "SELECT a FROM t",
        "INSERT INTO t VALUES (1)",
        "BEGIN IMMEDIATE",
        "UPDATE t SET a = 2",
        "SAVEPOINT s",
        "INSERT INTO t VALUES (3)",
        "ROLLBACK TO SAVEPOINT s",
        "UPDATE t SET a = 4",
        "COMMIT",
        "BEGIN",
        "DELETE FROM t",
        "ROLLBACK",
    ):
        connection.execute(statement)
    connection.close()
    # Read, write, three inside that was kept or went back to its savepoint, one that was taken back.
    assert counts.statements == 6
    # The single write and the commit.
    assert counts.transactions == 2
    assert counts.setup == 1
