"""The database after a test that commits: empty again, at the price of what the test wrote.

Django's own way truncates every table and then makes all permissions again, after each such test: on PostgreSQL nearly
half of what they took.
"""

from __future__ import annotations

from functools import cache

from django.db import connections, transaction
from django.test import TransactionTestCase

KEPT = {"django_migrations", "django_content_type", "auth_permission"}
"""What a migrated database holds before anything is stored."""


@cache
def _tables(alias: str) -> list[str]:
    return sorted(set(connections[alias].introspection.django_table_names(only_existing=True)) - KEPT)


def empty(alias: str = "default") -> None:
    """Delete every row that is not there after migrating. References are checked when all are gone."""
    connection = connections[alias]
    names = [(table, connection.ops.quote_name(table)) for table in _tables(alias)]
    asks = (f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {name})" for table, name in names)  # noqa: S608
    with transaction.atomic(using=alias), connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(asks))
        holding = {table for (table,) in cursor.fetchall()}
        for table, name in names:
            if table in holding:
                cursor.execute(f"DELETE FROM {name}")  # noqa: S608


def _after(test: TransactionTestCase) -> None:
    assert test.available_apps is None and not test.serialized_rollback
    for alias in test._databases_names(include_mirrors=False):
        empty(alias)


def install() -> None:
    """For every test of a run."""
    TransactionTestCase._fixture_teardown = _after
