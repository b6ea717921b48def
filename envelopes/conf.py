"""Settings of the runtime, with their defaults, in one place."""

from __future__ import annotations

from typing import Any

from django.conf import settings

DEFAULTS: dict[str, Any] = {
    "ANTHROPIC_API_KEY": "",
    "ANTHROPIC_BASE_URL": "",
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


def flag(name: str) -> bool:
    return bool(setting(name))
