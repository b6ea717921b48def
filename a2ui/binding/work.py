"""How much the functions of one drawing may do: a small program can call many functions very often."""

from __future__ import annotations

from typing import Any, Final

from a2ui.errors import ExpressionError
from a2ui.safety import regex
from a2ui.safety.limits import Limits

_CHARS: Final = 100
"""So many characters count like one call."""

_STEPS: Final = 1_000
"""So many steps of a pattern count like one call (both take some microseconds)."""


class Work:
    """Counts the calls of one drawing. `begin` when a drawing, a click or an edit begins."""

    __slots__ = ("allowed", "compiled", "slow", "used")

    def __init__(self, limits: Limits) -> None:
        self.allowed = limits.work
        self.used = 0
        self.compiled = 0
        """Calls and pieces of texts that were compiled, ever."""
        self.slow = False
        """Whether a pattern ran into its time limit: then no other one is tried, each could take as long."""

    def begin(self) -> None:
        self.used = 0
        self.slow = False

    def problem(self, name: str, arguments: dict[str, Any]) -> ExpressionError | None:
        """Counts a call; the error that it gets instead of running where it is one too many."""
        if name == "regex":
            text, pattern = arguments.get("value"), arguments.get("pattern")
            self.used += 1
            if type(text) is str and type(pattern) is str:
                # A long pattern that counts is as much work as many calls.
                self.used += max(len(text) // _CHARS, regex.steps(pattern, text) // _STEPS)
            if self.slow:
                return _too_much(name, "regex_ms", "A pattern before this one took too long.", self.allowed)
        else:
            self.used += 1
        return None if self.used <= self.allowed else self.refusal(name)

    def texts(self, texts: list[str]) -> bool:
        """Counts the pieces of a text; False where they are too many."""
        self.used += len(texts) + sum(map(len, texts)) // _CHARS
        return self.used <= self.allowed

    def refusal(self, name: str) -> ExpressionError:
        return _too_much(name, "work", "This surface calls functions too often. Call fewer.", self.allowed)


def _too_much(name: str, limit: str, message: str, allowed: int) -> ExpressionError:
    return ExpressionError(message, expression=name, code="budget_exceeded", limit=limit, allowed=allowed)
