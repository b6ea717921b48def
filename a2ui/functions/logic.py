"""`and`, `or` and `not`, which judge by truthiness (rulebook 9.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2ui.errors import ExpressionError
from a2ui.functions.convert import truthy
from a2ui.functions.registry import Env, Function


def _and(args: Mapping[str, Any], env: Env) -> bool:
    return all(truthy(value) for value in _values(args, "and"))


def _or(args: Mapping[str, Any], env: Env) -> bool:
    return any(truthy(value) for value in _values(args, "or"))


def _not(args: Mapping[str, Any], env: Env) -> bool:
    return not truthy(args.get("value"))


def _values(args: Mapping[str, Any], name: str) -> list[Any]:
    values = args.get("values")
    if not isinstance(values, list) or len(values) < 2:
        raise ExpressionError(f'{name} needs a list of at least two "values".', expression=name)
    return values


LOGIC = (Function("and", _and), Function("or", _or), Function("not", _not))
