"""Running functions on arguments: what they may look through, what they see of handles, what that costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from a2ui.binding.budget import EvaluationBudget, fallback_value
from a2ui.binding.reading import Getter, ReadRecorder
from a2ui.binding.secrets import DOTS, is_secret
from a2ui.errors import A2uiError
from a2ui.functions.registry import Function

REVEALING = frozenset({"required", "regex", "length", "numeric", "email", "and", "or", "not"})
"""Functions that judge a value without showing it: they get what a handle stands for (D24)."""

LOOKED_AT = frozenset({str, list, dict})
"""Types of arguments that functions look through, however long they are."""
SHORT: Final = 500
"""Characters of a text that needs no counting."""


def run_prepared(
    function: Function,
    evaluate: Getter,
    item: Getter,
    protect: Getter,
    work: EvaluationBudget,
    recorder: ReadRecorder,
    scope: Any,
) -> Any:
    """A call of which all arguments but one are fixed."""
    value = item(scope)
    kind = type(value)
    if kind is str:
        if len(value) > SHORT:
            work.argument(value)
    elif kind in LOOKED_AT:
        value = taken(value, protect, work)
    work.used += 1
    if work.used > work.allowed:
        problem = work.refusal(function.name)
        recorder.failed(problem)
        return fallback_value(problem, function)
    try:
        return evaluate(value)
    except A2uiError as error:
        recorder.failed(error)
        return fallback_value(error, function)


def taken(value: Any, protect: Getter, work: EvaluationBudget) -> Any:
    """An argument as the function gets it, of a type that is looked through: counted if it is long."""
    if type(value) is str:
        if len(value) > SHORT:
            work.argument(value)
        return value
    # Looking for handles is work as well. None goes nowhere: the call is refused.
    return protect(value) if work.argument(value) else None


def unveiled(reveal: Callable[[Any], Any], value: Any) -> Any:
    """The value, with what is behind a handle in its place."""
    if is_secret(value):
        return reveal(value)
    if type(value) is list and any(map(is_secret, value)):
        return [unveiled(reveal, item) for item in value]
    return value


dotted: Getter = partial(unveiled, lambda _: DOTS)
