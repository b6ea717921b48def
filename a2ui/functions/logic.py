"""`and`, `or` and `not`, which judge by truthiness (rulebook 9.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from a2ui.errors import ExpressionError
from a2ui.functions.convert import truthy
from a2ui.functions.registry import Env, Function


def logic(judge: Callable[[Any], bool]) -> tuple[Function, Function, Function]:
    """The three of them, by what `judge` takes for true."""

    def every(args: Mapping[str, Any], env: Env) -> bool:
        return all(map(judge, _values(args, "and")))

    def some(args: Mapping[str, Any], env: Env) -> bool:
        return any(map(judge, _values(args, "or")))

    def negated(args: Mapping[str, Any], env: Env) -> bool:
        return not judge(args.get("value"))

    return Function("and", every), Function("or", some), Function("not", negated)


def _values(args: Mapping[str, Any], name: str) -> list[Any]:
    values = args.get("values")
    if not isinstance(values, list) or len(values) < 2:
        raise ExpressionError(f'{name} needs a list of at least two "values".', expression=name)
    return values


LOGIC = logic(truthy)
