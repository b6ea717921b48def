"""Queries that are asked for every socket and every frame: compiled by the ORM once in a thread, then only executed.

Making the SQL of a small query takes Django several times as long as the database takes to answer it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet

_Places = list[tuple[int | None, Any]]
"""What stands in each place of a statement: a value by its number, or always the same."""


class Prepared:
    """``make`` builds a query from values of the types of ``examples``; these must be unlike each other and unlike any
    value that the query has by itself. Values must not change the form of the query: no None, no lists.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, Any]], *examples: str | int) -> None:
        self._make = make
        self._examples = examples
        self._here = threading.local()

    def first(self, *values: str | int) -> tuple[Any, ...] | None:
        """The first row, its columns converted as the ORM does. Raises what the database raises."""
        connection = connections[DEFAULT_DB_ALIAS]
        sql, places, compiler, converters = self._compiled(connection)
        with connection.cursor() as cursor:
            cursor.execute(sql, _given(places, values))
            row = cursor.fetchone()
        if row is None:
            return None
        if converters:
            (row,) = compiler.apply_converters([row], converters)
        return tuple(row)

    def instance(self, model: type[Model], *values: str | int) -> Any:
        """The first row as an instance of ``model``, of which the query selects all fields; None if there is none."""
        row = self.first(*values)
        if row is None:
            return None
        return model.from_db(DEFAULT_DB_ALIAS, [field.attname for field in model._meta.concrete_fields], row)

    def statement(self, *values: str | int) -> tuple[str, list[Any]]:
        """The query as part of a statement that is written by hand: its SQL, and what goes into its places."""
        sql, places, _, _ = self._compiled(connections[DEFAULT_DB_ALIAS])
        return sql, _given(places, values)

    def _compiled(self, connection: Any) -> tuple[str, _Places, Any, Any]:
        known = getattr(self._here, "compiled", None)
        if known is not None and known[2].connection is connection:
            return known  # type: ignore[no-any-return]
        compiler = self._make(*self._examples).query.get_compiler(DEFAULT_DB_ALIAS)
        sql, params = compiler.as_sql()
        places = [(self._place(value), value) for value in params]
        if {at for at, _ in places} - {None} != set(range(len(self._examples))):
            raise ValueError("A value of a prepared query does not stand in its SQL.")
        columns = [column for column, _, _ in compiler.select][: compiler.col_count]
        found = (sql, places, compiler, compiler.get_converters(columns))
        self._here.compiled = found
        return found

    def _place(self, value: Any) -> int | None:
        for at, example in enumerate(self._examples):
            if isinstance(value, type(example)) and value == example:
                return at
        return None


def _given(places: _Places, values: tuple[str | int, ...]) -> list[Any]:
    # In the type that the ORM has put there: PostgreSQL's driver names the column's type by it.
    return [value if at is None else type(value)(values[at]) for at, value in places]
