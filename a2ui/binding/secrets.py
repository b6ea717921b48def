"""Handles that stand for obscured values (decision D24)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from a2ui.safety.text import DOTS, HANDLE, to_text

if TYPE_CHECKING:
    from a2ui.binding.budget import EvaluationBudget

SECRET: Final = HANDLE
_UNCOUNTED_CHARS: Final = 1_000
__all__ = ["DOTS", "SECRET", "is_secret", "show"]


def is_secret(value: Any) -> bool:
    """Whether the value is a handle `{"$secret": "<token>"}`."""
    return type(value) is dict and SECRET in value


def show(value: Any, work: EvaluationBudget | None = None) -> str:
    """The text of a value for anyone to see (rulebook 7.3); a handle shows as dots.

    Writing a list or an object as JSON counts as `work` of the drawing; where nobody counts, little is written.
    """
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is dict or kind is list:
        if kind is dict and SECRET in value:
            return DOTS
        return to_text(value, _UNCOUNTED_CHARS) if work is None else work.json(value)
    return to_text(value)
