"""How much the functions of one drawing may do: a small program can call many functions very often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from a2ui.errors import BUDGET_EXCEEDED, A2uiError, ExpressionError
from a2ui.safety.limits import Limits
from a2ui.safety.text import to_text

if TYPE_CHECKING:
    from a2ui.functions.registry import Function

_CHARS: Final = 100
"""How many characters that are put together count like one call."""

_LOOKED_AT: Final = 1_000
"""How many characters of an argument count like one call."""

_ENTRIES: Final = 5
"""How many entries of a list or members of an object count like one call."""

_DRAWN: Final = 5
"""Calls that a value of a chart counts like: a mark, a cell, and how they are written."""

_JSON_CHARS: Final = 5
"""How many characters of JSON that is written count like one call."""

_KEPT_CHARS: Final = 1_000
"""Characters of a Markdown text whose HTML is kept, see `safety.markdown`."""

CUT: Final = "\N{HORIZONTAL ELLIPSIS}"
"""What a person sees of a text that a limit has cut off."""


def fallback_value(error: A2uiError, function: Function | None = None) -> str | None:
    """What stands for the value of a call that failed: nothing, but a mark where a limit cut off a text. Without a
    function it is formatString."""
    signature = function.signature if function is not None else None
    text = function is None or (signature is not None and signature.returns == "string")
    return CUT if text and error.code == BUDGET_EXCEEDED else None


class EvaluationBudget:
    """Counts the calls of one drawing. `begin` when a drawing, a click or an edit begins."""

    __slots__ = ("_paid", "_read", "allowed", "compiled", "limits", "marks", "used")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.allowed = limits.work
        self.used = 0
        self.compiled = 0
        """Calls and pieces of texts that were compiled, ever."""
        self.marks = 0
        """Marks of the Markdown that was read."""
        self._read: dict[str, None] = {}
        self._paid: set[str] | None = None
        """What costs only once in a drawing, see `Function.price`."""

    def begin(self) -> None:
        self.used = 0
        self.marks = 0
        if self._read:
            self._read = {}
        self._paid = None

    def saved(self) -> tuple[Any, ...]:
        """See `journal.Saved`."""
        read, paid = self._read, self._paid
        return (
            self.used,
            self.marks,
            self.compiled,
            read.copy() if read else (),
            None if paid is None else paid.copy(),
        )

    def load(self, saved: Any) -> None:
        """See `journal.Saved`."""
        self.used, self.marks, self.compiled, read, self._paid = saved
        self._read = dict.fromkeys(read)

    def argument(self, value: Any) -> bool:
        """Counts an argument, which the function looks through; False where that is too much."""
        if type(value) is str:
            self.used += len(value) // _LOOKED_AT
        elif type(value) is list or type(value) is dict:
            self.used += len(value) // _ENTRIES
        return self.used <= self.allowed

    def drawn(self, values: int) -> bool:
        """Counts values that a chart draws; False where they are too many."""
        self.used += _DRAWN * values
        return self.used <= self.allowed

    def problem(self, function: Function, arguments: Mapping[str, Any]) -> ExpressionError | None:
        """Counts a call; the error that it gets instead of running where it is one too many."""
        self.used += 1
        if self.used > self.allowed:
            return self.refusal(function.name)
        if function.price is not None:
            if self._paid is None:
                self._paid = set()
            self.used += function.price(arguments, self.limits, self._paid)
        return None if self.used <= self.allowed else self.refusal(function.name)

    def texts(self, texts: list[str]) -> bool:
        """Counts the pieces of a text; False where they are too many."""
        self.used += len(texts) + sum(map(len, texts)) // _CHARS
        return self.used <= self.allowed

    def json(self, value: dict[str, Any] | list[Any]) -> str:
        """The text of a list or an object; only a mark where too many were written before."""
        if self.used > self.allowed:
            return CUT
        text = to_text(value, self.limits.json_chars)
        self.used += 1 + len(text) // _JSON_CHARS
        return text

    def markdown(self, text: str, cost: int) -> bool:
        """Counts a Markdown text by what reading it costs, in marks; False where it is one too many. The same short
        text again costs nothing: whether it is shown must not depend on what other drawings have left in a cache."""
        if text in self._read:
            return True
        self.marks += cost
        if self.marks > self.limits.markdown_work:
            return False
        if len(text) <= _KEPT_CHARS:
            self._read[text] = None
        return True

    def refusal(self, name: str) -> ExpressionError:
        return ExpressionError(
            "This surface calls functions too often. Call fewer.",
            expression=name,
            code=BUDGET_EXCEEDED,
            limit="work",
            allowed=self.allowed,
        )
