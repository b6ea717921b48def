"""Statements that are said for every turn, written once: Django makes its own anew each time, which costs ten times
what the database takes for them.

Values go through their fields, as in Django's own statements, and on Django's connection, so inside its transaction.
Signals of models are not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import orjson
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Field, Model
from django.db.models.expressions import Col

M = TypeVar("M", bound=Model)

Convert = Callable[[Any, BaseDatabaseWrapper], Any]
Given = tuple[Field[Any, Any], type | None]
"""A field, and the type of whose values Django changes nothing."""

_TEXT: dict[str, type] = {"CharField": str, "TextField": str}
_AS_IT_IS: dict[str, Mapping[str, type]] = {
    "postgresql": _TEXT,
    # On PostgreSQL numbers are given with the type of their column.
    "sqlite": {
        **_TEXT,
        "BigAutoField": int,
        "BigIntegerField": int,
        "PositiveIntegerField": int,
        "BooleanField": bool,
    },
}
"""The types of values in which Django changes nothing, by database and kind of field: most of a row, which need not go
through it."""

_AMONG = {"sqlite": "IN (SELECT value FROM json_each(%s))", "postgresql": "= ANY(%s)"}


def among(keys: Iterable[int]) -> tuple[str, Any]:
    """What stands behind a column whose value is to be one of ``keys``, and the one value that is given for it: a
    thousand of them are as short a statement as one."""
    vendor = connections[DEFAULT_DB_ALIAS].vendor
    listed = list(keys)
    return _AMONG[vendor], orjson.dumps(listed).decode() if vendor == "sqlite" else listed


def insert(instance: Model, back: tuple[str, ...] = ()) -> None:
    """Store a new ``instance``, and give it its primary key; and these fields (``back``) as whoever reads it later has
    them: PostgreSQL keeps neither the order of keys in JSON nor how a number is written."""
    connection = connections[DEFAULT_DB_ALIAS]
    text, fields = _insert(type(instance), back, connection.vendor)
    with connection.cursor() as cursor:
        cursor.execute(text, [_stored(given, instance, connection, add=True) for given in fields])
        instance.pk, *read = cursor.fetchone()
    if back:
        for field, value in zip(
            _fields(type(instance), back), values(type(instance), read, back), strict=True
        ):
            setattr(instance, field.attname, value)
    instance._state.adding, instance._state.db = False, DEFAULT_DB_ALIAS


def insert_all(instances: Sequence[Model]) -> None:
    """Store these new instances of one model in one statement, but for those that are there already by a constraint.
    None is given its primary key."""
    if not instances:
        return
    connection = connections[DEFAULT_DB_ALIAS]
    text, places, fields = _inserted(type(instances[0]), connection.vendor)
    stored = [_stored(given, each, connection, add=True) for each in instances for given in fields]
    with connection.cursor() as cursor:
        cursor.execute(f"{text} {', '.join([places] * len(instances))} ON CONFLICT DO NOTHING", stored)


def update(instance: Model, names: Sequence[str], where: Mapping[str, Any] | None = None) -> bool:
    """Store these fields of ``instance``; whether there was a row with its primary key, and with what ``where`` asks
    of other columns."""
    connection = connections[DEFAULT_DB_ALIAS]
    asked = where or {}
    text, fields = _update(type(instance), tuple(names), tuple(asked), connection.vendor)
    values = [_stored(given, instance, connection, add=False) for given in fields]
    with connection.cursor() as cursor:
        cursor.execute(text, [*values, instance.pk, *asked.values()])
        return bool(cursor.rowcount)


@cache
def columns(model: type[Model], names: tuple[str, ...] = (), of: str = "") -> str:
    """The columns of these fields, or of all, as SQL lists them; ``of`` is what the statement calls their table."""
    prefix = f"{of}." if of else ""
    return ", ".join(f'{prefix}"{field.column}"' for field in _fields(model, names))


def made(model: type[M], row: Sequence[Any], names: tuple[str, ...] = ()) -> M:
    """What a row of ``columns`` is as a model; fields that are not among ``names`` are read when somebody asks."""
    attributes = [field.attname for field in _fields(model, names)]
    return model.from_db(DEFAULT_DB_ALIAS, attributes, values(model, row, names))


def values(model: type[Model], row: Sequence[Any], names: tuple[str, ...] = ()) -> list[Any]:
    """What a row of ``columns`` is as a model has it, in the order of the model's fields."""
    connection = connections[DEFAULT_DB_ALIAS]
    found = list(row)
    for place, convert in _converters(model, names, connection.vendor):
        found[place] = convert(found[place], connection)
    return found


def _stored(given: Given, instance: Model, connection: BaseDatabaseWrapper, *, add: bool) -> Any:
    field, as_it_is = given
    value = field.pre_save(instance, add)
    if value is None or type(value) is as_it_is:
        return value
    return field.get_db_prep_save(value, connection)


def _given(fields: Iterable[Field[Any, Any]], vendor: str) -> tuple[Given, ...]:
    return tuple((field, _AS_IT_IS[vendor].get(field.get_internal_type())) for field in fields)


@cache
def _fields(model: type[Model], names: tuple[str, ...]) -> tuple[Field[Any, Any], ...]:
    return tuple(field for field in model._meta.concrete_fields if not names or field.name in names)


@cache
def _insert(model: type[Model], back: tuple[str, ...], vendor: str) -> tuple[str, tuple[Given, ...]]:
    text, places, fields = _inserted(model, vendor)
    told = (model._meta.pk, *(_fields(model, back) if back else ()))
    listed = ", ".join(f'"{field.column}"' for field in told)
    return f"{text} {places} RETURNING {listed}", fields


@cache
def _inserted(model: type[Model], vendor: str) -> tuple[str, str, tuple[Given, ...]]:
    """The beginning of the statement, up to the values, and the places of one row."""
    meta = model._meta
    fields = tuple(field for field in meta.concrete_fields if not isinstance(field, AutoField))
    listed, places = ", ".join(f'"{field.column}"' for field in fields), ", ".join(["%s"] * len(fields))
    return f'INSERT INTO "{meta.db_table}" ({listed}) VALUES', f"({places})", _given(fields, vendor)


@cache
def _update(
    model: type[Model], names: tuple[str, ...], where: tuple[str, ...], vendor: str
) -> tuple[str, tuple[Given, ...]]:
    meta, named = model._meta, {field.name: field for field in model._meta.concrete_fields}
    fields = tuple(named[name] for name in names)
    listed = ", ".join(f'"{field.column}" = %s' for field in fields)
    asked = "".join(f' AND "{named[name].column}" = %s' for name in where)
    text = f'UPDATE "{meta.db_table}" SET {listed} WHERE "{meta.pk.column}" = %s{asked}'  # noqa: S608 - names of ours
    return text, _given(fields, vendor)


@cache
def _converters(model: type[Model], names: tuple[str, ...], vendor: str) -> tuple[tuple[int, Convert], ...]:
    """What Django does to each column that it does something to, by place."""
    connection = connections[DEFAULT_DB_ALIAS]
    found: list[tuple[int, Convert]] = []
    for place, field in enumerate(_fields(model, names)):
        column = field.cached_col
        converters = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
        if converters:
            found.append((place, _in_turn(converters, column)))
    return tuple(found)


def _in_turn(converters: Sequence[Callable[..., Any]], column: Col) -> Convert:
    def convert(value: Any, connection: BaseDatabaseWrapper) -> Any:
        for each in converters:
            value = each(value, column, connection)
        return value

    return convert
