"""Checks values against schemas of a contract: all violations, at a price that is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from itertools import islice
from typing import Any, Final

from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import create

from envelopes.errors import TooLarge
from envelopes.transports.live.contracts.dialect import METASCHEMA, closed
from envelopes.transports.live.contracts.formats import FORMATS
from envelopes.transports.live.contracts.violations import (
    MOST_VIOLATIONS,
    Violation,
    at,
    cut,
    json_type,
    listed,
    same,
    shown,
)
from envelopes.types import Json, JsonObject

MAX_STEPS: Final = 50_000
"""Keywords that one check may look at. Eight names or values of one count as one more; what is wrong counts as four."""

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]

_spent: ContextVar[list[int]] = ContextVar("steps of the check that runs")


def _spend(steps: int) -> None:
    spent = _spent.get()
    spent[0] += steps
    if spent[0] > MAX_STEPS:
        raise TooLarge(
            f"Checking this takes more than {MAX_STEPS:,} steps, which is the limit.",
            limit="contract_steps",
            allowed=MAX_STEPS,
        )


def _steps(value: Json, instance: Json) -> int:
    looked_at = value if isinstance(value, list | dict) else instance
    return 1 + len(looked_at) // 8 if isinstance(looked_at, list | dict | str) else 1


def _counted(keyword: Keyword) -> Keyword:
    def counting(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _spend(_steps(value, instance))
        for error in keyword(validator, value, instance, schema):
            _spend(4)
            yield error

    return counting


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not any(validator.is_type(instance, name) for name in ([types] if isinstance(types, str) else types)):
        yield ValidationError("type")


def _enum(validator: Any, values: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not any(same(value, instance) for value in values):
        yield ValidationError("enum")


def _const(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not same(value, instance):
        yield ValidationError("const")


def _format(validator: Any, name: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not FORMATS.conforms(instance, name):
        yield ValidationError("format")


def _minimum(validator: Any, least: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "number") and instance < least:
        yield ValidationError("minimum")


def _maximum(validator: Any, most: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "number") and instance > most:
        yield ValidationError("maximum")


def _required(validator: Any, required: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for name in required:
            if name not in instance:
                yield ValidationError("missing", path=[name])


def _additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict) or allowed is True:
        return
    declared = schema.get("properties", {})
    for name, value in instance.items():
        if name in declared:
            continue
        if allowed is False:
            yield ValidationError("undeclared", path=[name], cause=_Undeclared(value))
        else:
            yield from validator.descend(value, allowed, path=name)


class _Undeclared(Exception):
    """Carries the value of an undeclared key to where it is told."""

    def __init__(self, value: Json) -> None:
        self.value = value


def _union(*, exactly_one: bool) -> Keyword:
    """Where no branch fits, what is wrong with each is told too; where several do, that is all."""

    def union(validator: Any, branches: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        fitting, context = 0, []
        for number, branch in enumerate(branches):
            faults = list(validator.descend(instance, branch, schema_path=number))
            fitting += not faults
            context += faults
            if fitting and not exactly_one:
                return
        if not fitting:
            yield ValidationError("none", context=context)
        elif fitting > 1:
            yield ValidationError("several")

    return union


# Those of jsonschema that tell what is wrong quote the whole value, however long or deep it is.
_KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "items": Draft7Validator.VALIDATORS["items"],
    "properties": Draft7Validator.VALIDATORS["properties"],
    "required": _required,
    "additionalProperties": _additional,
    "format": _format,
    "minimum": _minimum,
    "maximum": _maximum,
    "oneOf": _union(exactly_one=True),
    "anyOf": _union(exactly_one=False),
}

_Checker = create(
    meta_schema=METASCHEMA,
    validators={name: _counted(keyword) for name, keyword in _KEYWORDS.items()},
    # 1.0 is an integer, and true is no number (7.3).
    type_checker=Draft7Validator.TYPE_CHECKER,
)


class ValueCheck:
    """One schema, closed and ready. Holds no state of a check, so threads may share it."""

    __slots__ = ("_checker",)

    def __init__(self, schema: JsonObject) -> None:
        """``schema`` is one in which ``schema_faults`` found none."""
        self._checker = _Checker(closed(schema))

    def violations(self, value: Json, field: str) -> list[Violation]:
        """All that is wrong with a value, the first ``MOST_VIOLATIONS`` and one more where there are more.

        :raises TooLarge: checking takes more than ``MAX_STEPS``
        """
        token = _spent.set([0])
        try:
            found = (one for error in self._checker.iter_errors(value) for one in _flat(error))
            return [_told(error, field) for error in islice(found, MOST_VIOLATIONS + 1)]
        finally:
            _spent.reset(token)


def _flat(error: ValidationError) -> Iterator[ValidationError]:
    for inner in error.context or ():
        yield from _flat(inner)
    yield error


def _told(error: ValidationError, field: str) -> Violation:
    path = list(error.absolute_path)
    where, keyword = at(field, path), str(error.validator)
    value: Any = error.instance
    limit: Any = error.validator_value
    match keyword:
        case "required":
            message, expected, received = f"'{cut(str(path[-1]))}' is required.", "present", "absent"
        case "additionalProperties":
            declared = (
                listed(error.schema.get("properties", {})) if isinstance(error.schema, dict) else "(none)"
            )
            inner = error.cause.value if isinstance(error.cause, _Undeclared) else value
            message = f"'{cut(str(path[-1]))}' is not declared. Declared: {declared}."
            expected, received = "a declared key", json_type(inner)
        case "type":
            expected = "|".join(limit) if isinstance(limit, list) else str(limit)
            received = json_type(value)
            message = f"Is of the type {received}, not {expected}."
        case "enum":
            expected, received = listed(shown(one) for one in limit), shown(value)
            message = f"Is not one of {expected}."
        case "const":
            expected, received = shown(limit), shown(value)
            message = f"Is not {expected}."
        case "format":
            expected, received = str(limit), shown(value)
            message = f"Is not in the form {expected}."
        case "minimum" | "maximum":
            expected, received = f"{'>=' if keyword == 'minimum' else '<='} {limit}", shown(value)
            message = f"Is not {expected}."
        case _:
            several = error.message == "several"
            expected = (
                f"exactly one of {len(limit)} shapes" if keyword == "oneOf" else f"one of {len(limit)} shapes"
            )
            received = "more than one" if several else json_type(value)
            message = "Fits more than one of the shapes." if several else "Fits none of the shapes."
    return Violation(where, message, expected, received, keyword)
