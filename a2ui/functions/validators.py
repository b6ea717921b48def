"""Functions that judge a value (rulebook 9.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from a2ui.errors import ExpressionError
from a2ui.functions.convert import to_number
from a2ui.functions.registry import Env, Function
from a2ui.safety import regex
from a2ui.safety.text import to_text

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
_MAX_EMAIL_CHARS = 1_000


def _required(args: Mapping[str, Any], env: Env) -> bool:
    value = args.get("value")
    return bool(value) if isinstance(value, str | list) else value is not None


def _regex(args: Mapping[str, Any], env: Env) -> bool:
    pattern = args.get("pattern")
    if not isinstance(pattern, str):
        raise ExpressionError("regex needs a pattern that is text.", expression="regex")
    return regex.search(pattern, _scalar_text(args.get("value")), env.limits)


def _length(args: Mapping[str, Any], env: Env) -> bool:
    value = args.get("value")
    return _within(len(value) if isinstance(value, str | list) else 0, args, "length")


def _numeric(args: Mapping[str, Any], env: Env) -> bool:
    number = to_number(args.get("value"))
    return number is not None and _within(number, args, "numeric")


def _email(args: Mapping[str, Any], env: Env) -> bool:
    text = _scalar_text(args.get("value"))
    return len(text) <= _MAX_EMAIL_CHARS and _EMAIL.fullmatch(text) is not None


def _within(number: float, args: Mapping[str, Any], name: str) -> bool:
    low, high = _bound(args, "min", name), _bound(args, "max", name)
    return (low is None or number >= low) and (high is None or number <= high)


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


VALIDATORS = (
    Function("required", _required),
    Function("regex", _regex, literal_args=frozenset({"pattern"})),
    Function("length", _length),
    Function("numeric", _numeric),
    Function("email", _email),
)
