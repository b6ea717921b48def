"""Running functions on arguments: what they may look through, what they see of handles, what that costs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from a2ui.binding.budget import EvaluationBudget, fallback_value
from a2ui.binding.reading import Getter, ReadRecorder
from a2ui.binding.secrets import DOTS, is_secret
from a2ui.data.values import Copier
from a2ui.errors import RAISED, A2uiError
from a2ui.functions.defining import module_of
from a2ui.functions.registry import Env, Function
from a2ui.safety.limits import Limits
from a2ui.safety.raised import hold, raised_at

logger = logging.getLogger(__name__)

FUNCTION_FAILED: Final = "FUNCTION_FAILED"
"""A function of an application raised what it should not."""

REVEALING = frozenset({"required", "regex", "length", "numeric", "email", "and", "or", "not"})
"""Functions that judge a value without showing it: they get what a handle stands for (D24)."""

_PLAIN: Final = frozenset({bool, int, float, type(None)})
"""Types of values that are shown as they are; numbers that JSON does not have, too."""

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
        found = evaluate(value)
        return found if function.ours else checked(found, work.limits)
    except A2uiError as error:
        recorder.failed(error)
        return fallback_value(error, function)
    except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
        recorder.failed(failed(function, error))
        return None


def prepare(function: Function, name: str, fixed: Mapping[str, Any], env: Env) -> Callable[[Any], Any] | None:
    """`Function.prepare`; None where it fails, so that calls show what is wrong."""
    if function.prepare is None:
        return None
    try:
        return function.prepare(name, fixed, env)
    except A2uiError:
        raise
    except Exception as error:  # noqa: BLE001 - noted, and raised again where it is ours
        failed(function, error)
        return None


def checked(found: Any, limits: Limits) -> Any:
    """The value that code of an application gave, as data models have values. Raises DataError for what is no JSON,
    LimitError."""
    return found if type(found) in _PLAIN else Copier(limits).copy(found)


def failed(function: Function, error: Exception) -> A2uiError:
    """What is told of a function that raised what it should not; logged for staff, without values. Raises the error
    again where it must not be held up."""
    hold(error)
    raised = raised_at(error, module_of(function.evaluate))
    logger.error("The function %s failed: %s", function.name, raised)
    message = f"{function.name} failed inside."
    return A2uiError(
        message, code=FUNCTION_FAILED, fault="configuration", expression=function.name, **{RAISED: raised}
    )


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
