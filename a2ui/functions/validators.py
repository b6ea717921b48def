"""Functions that judge a value (rulebook 9.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from a2ui.errors import ExpressionError
from a2ui.functions.convert import to_number
from a2ui.functions.registry import Env, Function, Prepare
from a2ui.safety import regex
from a2ui.safety.limits import Limits
from a2ui.safety.text import to_text

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
_MAX_EMAIL_CHARS = 1_000


def _required(args: Mapping[str, Any], env: Env) -> bool:
    return _given(args.get("value"))


def _given(value: Any) -> bool:
    return bool(value) if isinstance(value, str | list) else value is not None


def _regex(args: Mapping[str, Any], env: Env) -> bool:
    pattern = args.get("pattern")
    if not isinstance(pattern, str):
        raise ExpressionError("regex needs a pattern that is text.", expression="regex")
    return regex.search(pattern, _scalar_text(args.get("value")), env.limits)


def _length(args: Mapping[str, Any], env: Env) -> bool:
    return _within(_size(args.get("value")), *_bounds(args, "length"))


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list) else 0


def _numeric(args: Mapping[str, Any], env: Env) -> bool:
    number = to_number(args.get("value"))
    return number is not None and _within(number, *_bounds(args, "numeric"))


def _email(args: Mapping[str, Any], env: Env) -> bool:
    return _is_email(args.get("value"))


def _is_email(value: Any) -> bool:
    text = _scalar_text(value)
    return len(text) <= _MAX_EMAIL_CHARS and _EMAIL.fullmatch(text) is not None


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


# ---- the usual calls: a value from the data, and everything else written down


def _prepare(judge: Callable[[Any], bool]) -> Prepare:
    return lambda name, fixed, env: judge if name == "value" else None


def _prepare_bounds(called: str, measure: Callable[[Any], float | None]) -> Prepare:
    def prepare(name: str, fixed: Mapping[str, Any], env: Env) -> Callable[[Any], bool] | None:
        try:
            low, high = _bounds(fixed, called)
        except ExpressionError:
            # To be reported when it is called.
            return None
        return (lambda value: _within(measure(value), low, high)) if name == "value" else None

    return prepare


VALIDATORS = (
    Function("required", _required, prepare=_prepare(_given)),
    Function("regex", _regex, literal_args=frozenset({"pattern"}), price=_regex_price),
    Function("length", _length, prepare=_prepare_bounds("length", _size)),
    Function("numeric", _numeric, prepare=_prepare_bounds("numeric", to_number)),
    Function("email", _email, prepare=_prepare(_is_email)),
)
