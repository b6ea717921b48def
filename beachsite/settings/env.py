"""Typed readers of environment variables: a value that cannot be meant is an error, never a silent default."""

from __future__ import annotations

import json
import os
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
asked: set[str] = set()
"""The names that settings have asked for."""

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def text(name: str, default: str = "") -> str:
    """The variable without surrounding space; empty counts as unset, as compose files and unit files write it."""
    asked.add(name)
    return os.environ.get(name, "").strip() or default


def required(name: str, why: str) -> str:
    """The variable, or an error that names it and says what it is for."""
    value = text(name)
    if not value:
        raise ImproperlyConfigured(f"Set the environment variable {name}: {why}")
    return value


def flag(name: str, *, default: bool) -> bool:
    """A yes or no."""
    value = text(name).lower()
    if not value:
        return default
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")


def number(name: str, default: int, *, least: int = 0) -> int:
    """A whole number."""
    value = text(name)
    if not value:
        return default
    try:
        result = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a whole number.") from None
    if result < least:
        raise ImproperlyConfigured(f"{name} is {result}; the least that works is {least}.")
    return result


def fraction(name: str) -> float | None:
    """A number of 0 or more, None where it is not said."""
    value = text(name)
    if not value:
        return None
    try:
        result = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a number.") from None
    if not 0 <= result < 1e9:
        raise ImproperlyConfigured(f"{name} is {value}; it must be 0 or more.")
    return result


def prices(name: str) -> dict[str, dict[str, float]]:
    """Prices by model, as JSON."""
    value = text(name)
    try:
        read = json.loads(value or "{}")
        return {str(model): {str(what): float(each[what]) for what in each} for model, each in read.items()}
    except (ValueError, TypeError, AttributeError):
        raise ImproperlyConfigured(
            f'{name} is no JSON of prices; write {{"claude-sonnet-5-5": {{"input": 3, "output": 15}}}}.'
        ) from None


def seconds(name: str, default: float, *, zero: bool = False) -> float:
    """A length of time; fractions are fine, less than nothing is not, nothing only with ``zero``."""
    value = text(name)
    if not value:
        return default
    try:
        result = float(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a number of seconds.") from None
    if not (0 < result < 1e9 or (zero and result == 0)):
        raise ImproperlyConfigured(f"{name} is {value}; it must be more than no time.")
    return result


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A list, separated by commas."""
    value = text(name)
    if not value:
        return list(default)
    return [word for part in value.split(",") if (word := part.strip())]


def choice(name: str, options: tuple[str, ...], default: str) -> str:
    """One of a fixed set of words."""
    value = text(name, default)
    if value not in options:
        raise ImproperlyConfigured(f"{name} is {value!r}; write one of: {', '.join(options)}.")
    return value


def time_zone(name: str, default: str) -> str:
    """A time zone by its name."""
    value = text(name, default)
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; write a name such as Europe/Berlin, or UTC."
        ) from None
    return value


def log_level(name: str, default: str) -> str:
    """How much is logged, in any case."""
    value = text(name, default)
    if value.upper() not in _LEVELS:
        raise ImproperlyConfigured(f"{name} is {value!r}; write one of: {', '.join(_LEVELS)}.")
    return value.upper()
