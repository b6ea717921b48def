"""Handles that stand for obscured values (decision D24)."""

from __future__ import annotations

from typing import Any, Final

from a2ui.safety.text import to_text

SECRET: Final = "$secret"  # noqa: S105 - the name of the member, not a secret
DOTS: Final = "••••••"


def is_secret(value: Any) -> bool:
    """Whether the value is a handle `{"$secret": "<token>"}`."""
    return type(value) is dict and SECRET in value


def show(value: Any) -> str:
    """The text of a value for anyone to see (rulebook 7.3); a handle shows as dots."""
    if type(value) is str:
        return value
    return DOTS if type(value) is dict and SECRET in value else to_text(value)
