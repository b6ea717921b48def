"""Whether the database has the tables that a command needs: said in a sentence, before any statement fails."""

from __future__ import annotations

from django.core.management import get_commands
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

APP = "envelopes"


def require_tables() -> None:
    """Raises ``CommandError`` where migrations of Beach have not been applied; Django's own errors for a database that
    does not answer."""
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes(APP)):
        return
    told = f"The database {connection.settings_dict['NAME']} lacks tables of Beach: make them with manage.py migrate."
    if "demo" in get_commands():
        # The demo makes its own, in a folder that no other command is told of.
        told += " Where you mean the one of demo --data DIR, set BEACH_DATA=DIR instead."
    raise CommandError(told)
