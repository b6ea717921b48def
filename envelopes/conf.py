"""Settings of the runtime, with their defaults, in one place."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any

from django.conf import settings

from a2ui import Limits

DEFAULTS: dict[str, Any] = {
    "ANTHROPIC_API_KEY": "",
    "ANTHROPIC_BASE_URL": "",
    "BEACH_A2UI_LIMITS": {},
    "BEACH_ALLOW_UNPREFIXED": False,
    "BEACH_ALLOWED_ORIGINS": (),
    "BEACH_ANONYMOUS": False,
    "BEACH_APPROVAL_SECONDS": 15 * 60,
    "BEACH_ARTIFACT_BYTES": 25 * 1024 * 1024,
    "BEACH_DEFAULT_ACTOR": "",
    "BEACH_EXECUTOR": "inprocess",
    "BEACH_FRAME_BYTES": 128 * 1024,
    "BEACH_IMAGE_HOSTS": (),
    "BEACH_LEASE_SECONDS": 15.0,
    "BEACH_MAX_CORRECTIONS": 3,
    "BEACH_MAX_STEPS": 24,
    "BEACH_MAX_TOKENS": 16_000,
    "BEACH_MESSAGE_CHARACTERS": 20_000,
    "BEACH_FRAMES_PER_SECOND": 40,
    "BEACH_MODEL": "claude-sonnet-5-5",
    "BEACH_PROCESSES": 1,
    "BEACH_SCRIPT_PACE": 900.0,
    "BEACH_SECRET_SECONDS": 60 * 60,
    "BEACH_SWEEP_SECONDS": 1.0,
    "BEACH_TOOL_SECONDS": 60.0,
    "REDIS_URL": "",
}

_MAY_BE_ZERO = {"BEACH_SCRIPT_PACE"}
_CHOICES = {"BEACH_EXECUTOR": ("inprocess", "worker")}


def setting(name: str) -> Any:
    """The value of a ``BEACH_*`` setting, or its default; ``KeyError`` for a name that is not known here."""
    return getattr(settings, name, DEFAULTS[name])


def problems() -> list[tuple[str, str]]:
    """What is wrong with the settings themselves: ``(name, sentence)`` for each whose value is not of the kind that its
    default is. Where they are used they are not looked at again."""
    found = []
    for name, default in DEFAULTS.items():
        value = setting(name)
        if name in _CHOICES:
            fits, kind = value in _CHOICES[name], f"one of: {', '.join(_CHOICES[name])}"
        elif isinstance(default, bool):
            fits, kind = isinstance(value, bool), "True or False"
        elif isinstance(default, int | float):
            fits, kind = _is_number(value, zero=name in _MAY_BE_ZERO), "a number above 0"
        elif isinstance(default, str):
            fits, kind = isinstance(value, str), "a text"
        elif isinstance(default, tuple):
            fits, kind = _is_list(value), "a list of texts"
        else:
            continue
        if not fits:
            # Some hold keys and passwords.
            got = type(value).__name__ if isinstance(default, str) else repr(value)
            found.append((name, f"{name} is {got}; it must be {kind}."))
    return found


def _is_number(value: Any, *, zero: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < 1e15 or (zero and value == 0)


def _is_list(value: Any) -> bool:
    # A text is a sequence of texts too, each one character long.
    return isinstance(value, list | tuple | set | frozenset) and all(isinstance(item, str) for item in value)


def a2ui_limits() -> Limits:
    """The engine's limits: its defaults with BEACH_A2UI_LIMITS over them; `ValueError` for one that does not exist."""
    given = setting("BEACH_A2UI_LIMITS")
    problems = limit_problems(given)
    if problems:
        raise ValueError(problems[0])
    return _limits(tuple(sorted(given.items())))


def limit_problems(given: Any) -> list[str]:
    """What is wrong with BEACH_A2UI_LIMITS, one sentence for each fault."""
    if not isinstance(given, dict):
        return ["BEACH_A2UI_LIMITS is a dictionary of limits by name."]
    known = {field.name for field in fields(Limits)}
    return [
        f"BEACH_A2UI_LIMITS has {name!r}, which is not a limit."
        if name not in known
        else f"BEACH_A2UI_LIMITS has {value!r} for {name!r}, which is not a whole number above 0."
        for name, value in given.items()
        if name not in known or type(value) is not int or value < 1
    ]


@lru_cache(maxsize=16)
def _limits(given: tuple[tuple[str, int], ...]) -> Limits:
    return Limits(**dict(given))


def image_hosts() -> frozenset[str]:
    """BEACH_IMAGE_HOSTS as the engine spells them: every host below one is `.example.com`, not `*.example.com`."""
    return frozenset(host.lower().removeprefix("*") for host in setting("BEACH_IMAGE_HOSTS"))


def flag(name: str) -> bool:
    return bool(setting(name))
