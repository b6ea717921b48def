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
    "BEACH_ANONYMOUS": False,
    "BEACH_APPROVAL_SECONDS": 15 * 60,
    "BEACH_ARTIFACT_BYTES": 25 * 1024 * 1024,
    "BEACH_DEFAULT_ACTOR": "",
    "BEACH_FRAME_BYTES": 128 * 1024,
    "BEACH_IMAGE_HOSTS": (),
    "BEACH_LEASE_SECONDS": 15.0,
    "BEACH_MAX_CORRECTIONS": 3,
    "BEACH_MAX_STEPS": 24,
    "BEACH_MAX_TOKENS": 16_000,
    "BEACH_MESSAGE_CHARACTERS": 20_000,
    "BEACH_FRAMES_PER_SECOND": 40,
    "BEACH_MODEL": "claude-sonnet-5-5",
    "BEACH_SCRIPT_PACE": 900.0,
    "BEACH_SECRET_SECONDS": 60 * 60,
    "BEACH_SWEEP_SECONDS": 1.0,
    "BEACH_TOOL_SECONDS": 60.0,
}


def setting(name: str) -> Any:
    """The value of a ``BEACH_*`` setting, or its default; ``KeyError`` for a name that is not known here."""
    return getattr(settings, name, DEFAULTS[name])


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
