"""Functions that judge a value (rulebook 9.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from a2ui.data.values import JSON
from a2ui.errors import ExpressionError
from a2ui.functions.convert import to_number
from a2ui.functions.registry import Env, Function
from a2ui.safety import regex
from a2ui.safety.limits import Limits
from a2ui.safety.text import to_text

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
_MAX_EMAIL_CHARS = 1_000


def validators(passed: JSON, failed: JSON, no_email: JSON) -> tuple[Function, ...]:
    """All of them, by what each gives: `passed`, or `failed`, of which that of `email` is `no_email`."""

    def given(value: Any) -> JSON:
        return passed if (value if isinstance(value, str | list) else value is not None) else failed

    def mail(value: Any) -> JSON:
        text = _scalar_text(value)
        return passed if len(text) <= _MAX_EMAIL_CHARS and _EMAIL.fullmatch(text) is not None else no_email

    def matching(args: Mapping[str, Any], env: Env) -> JSON:
        pattern = args.get("pattern")
        if not isinstance(pattern, str):
            raise ExpressionError("regex needs a pattern that is text.", expression="regex")
        return passed if regex.search(pattern, _scalar_text(args.get("value")), env.limits) else failed

    def of_value(name: str, judge: Callable[[Any], JSON]) -> Function:
        """One that judges the value alone."""
        return Function(
            name,
            lambda args, env: judge(args.get("value")),
            prepare=lambda argument, fixed, env: judge if argument == "value" else None,
        )

    def bounded(name: str, measure: Callable[[Any], float | None]) -> Function:
        """One that measures the value: nothing to measure is outside of all bounds."""

        def evaluate(args: Mapping[str, Any], env: Env) -> JSON:
            found = measure(args.get("value"))
            return passed if found is not None and _within(found, *_bounds(args, name)) else failed

        def prepare(argument: str, fixed: Mapping[str, Any], env: Env) -> Callable[[Any], JSON] | None:
            try:
                low, high = _bounds(fixed, name)
            except ExpressionError:
                # To be reported when it is called.
                return None
            if argument != "value":
                return None
            return lambda value: passed if _within(measure(value), low, high) else failed

        return Function(name, evaluate, prepare=prepare)

    return (
        of_value("required", given),
        Function("regex", matching, literal_args=frozenset({"pattern"}), price=_regex_price),
        bounded("length", _size),
        bounded("numeric", to_number),
        of_value("email", mail),
    )


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list) else 0


def _within(number: float | None, low: float | None, high: float | None) -> bool:
    if number is None:
        return False
    return (low is None or number >= low) and (high is None or number <= high)


def _bounds(args: Mapping[str, Any], name: str) -> tuple[float | None, float | None]:
    return _bound(args, "min", name), _bound(args, "max", name)


def _bound(args: Mapping[str, Any], key: str, name: str) -> float | None:
    value = args.get(key)
    if value is None:
        return None
    bound = to_number(value)
    if bound is None:
        raise ExpressionError(f'{name} needs a number as "{key}".', expression=name)
    return bound


def _scalar_text(value: Any) -> str:
    """Numbers and booleans as their text; nothing, lists and objects as empty text."""
    return "" if isinstance(value, dict | list) else to_text(value)


def _regex_price(args: Mapping[str, Any], limits: Limits, paid: set[str]) -> int:
    pattern, text = args.get("pattern"), args.get("value")
    if isinstance(pattern, str) and isinstance(text, str):
        return regex.price(pattern, text, limits, paid)
    return 0


VALIDATORS = validators(passed=True, failed=False, no_email=False)
"""In 0.9 each gives a boolean."""
