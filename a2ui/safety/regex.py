"""Patterns of agents, in the ECMAScript dialect and in bounded time and memory (rulebook 9.2, decision D61).

A pattern is read into a tree first, and refused by its size with all counts written out before anything is compiled.
google-re2 takes nearly all of the rest and runs in linear time; look-around and what re2 has no memory for go to
`positions`, which runs in linear time too. Nothing backtracks; what neither can answer is refused by name.

Linear is not quick: the work is the length of the text times what may be alive of the pattern at once. So one search
has a limit of steps, and `price` lets a drawing count what all of its searches cost.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

import re2

from a2ui.errors import ExpressionError
from a2ui.safety.compiling import compiled
from a2ui.safety.dialect import parse
from a2ui.safety.limits import Limits
from a2ui.safety.linear import Linear, write
from a2ui.safety.pattern_tree import Node, PatternError, UnsupportedError
from a2ui.safety.positions import Matcher, TooLargeError, TooManyStepsError
from a2ui.safety.text import clean_string

_KIB: Final = 1 << 10
_SMALL_WEIGHT: Final = 500
_SMALL_BYTES: Final = 128 * _KIB
_MOST_BYTES: Final = 512 * _KIB
"""What one compiled pattern may keep; one of little weight gets by with less."""
_MOST_INSTRUCTIONS: Final = 25_000
"""More do not fit into that."""
_SLOW_SIZE: Final = 1_000
"""Size of a pattern that goes to `positions`."""
_KEPT_BYTES: Final = 32 << 20
_STAYING: Final = _KEPT_BYTES // _MOST_BYTES
"""As many patterns as stay compiled whatever they are."""

_MOST_TOLD: Final = 1_000_000_000

_TEXT_CHARS: Final = 100
_STEPS: Final = 250
_SLOW_STEPS: Final = 8
_NEW: Final = 200
_READING: Final = 20
_CLASS: Final = 300
_INSTRUCTIONS: Final = 4
_NODE: Final = 5
"""How many characters of the text, and how many steps, count like one call; how many calls a new pattern counts like,
and how many more a character of it and one of Unicode's classes in it; then how many instructions count like one
call, or how many calls a node."""


def search(pattern: str, text: str, limits: Limits) -> bool:
    """Whether the ECMAScript pattern matches anywhere in the text.

    Raises ExpressionError: for a pattern that is invalid or not supported (then `facts` has `unsupported`), and with
    the code `budget_exceeded` where pattern or text go beyond the limits.
    """
    if len(pattern) > limits.regex_pattern_chars:
        raise _limit_error(pattern, "regex_pattern_chars", limits.regex_pattern_chars, len(pattern))
    if len(text) > limits.regex_input_chars:
        raise _limit_error(pattern, "regex_input_chars", limits.regex_input_chars, len(text))
    if not text.isascii():
        text = clean_string(text)
    return _ready(pattern, limits).found(text, limits)


def price(pattern: str, text: str, limits: Limits, paid: set[str]) -> int:
    """What a search costs in usual function calls: looking through the text, steps, compiling a new pattern.

    `paid` are the patterns that the drawing has paid for: what a surface shows must not depend on what other drawings
    have left compiled. With many of them each search pays, since few can be counted on to stay.
    """
    if len(pattern) > limits.regex_pattern_chars or len(text) > limits.regex_input_chars:
        return 0  # refused without a look
    try:
        ready = _ready(pattern, limits)
    except ExpressionError:
        # Nothing is kept of what does not compile: it costs the same again.
        return _reading(pattern)
    searching = max(len(text) // _TEXT_CHARS, ready.calls(text, limits))
    if pattern in paid and len(paid) <= _STAYING:
        return searching
    paid.add(pattern)
    return searching + _reading(pattern) + ready.compiling


def _reading(pattern: str) -> int:
    return _NEW + _READING * len(pattern) + _CLASS * (pattern.count("\\p") + pattern.count("\\P"))


class _Ready(Protocol):
    """A pattern that can be searched for."""

    @property
    def memory(self) -> int:
        """Bytes that it may keep."""

    @property
    def compiling(self) -> int:
        """What it costs to compile it, in usual calls."""

    def calls(self, text: str, limits: Limits) -> int:
        """What a search costs at most, in usual calls."""

    def found(self, text: str, limits: Limits) -> bool:
        """Raises ExpressionError beyond the limits."""


@dataclass(frozen=True, slots=True)
class _InRe2:
    pattern: str
    compiled: re2._Regexp[str]
    linear: Linear
    memory: int

    @property
    def compiling(self) -> int:
        return self.linear.instructions // _INSTRUCTIONS

    def _steps(self, text: str) -> int:
        size = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        return size * self.linear.weight

    def calls(self, text: str, limits: Limits) -> int:
        return min(self._steps(text), limits.regex_steps) // _STEPS

    def found(self, text: str, limits: Limits) -> bool:
        steps = self._steps(text)
        if steps > limits.regex_steps:
            raise _limit_error(self.pattern, "regex_steps", limits.regex_steps, steps)
        return self.compiled.search(text) is not None


@dataclass(frozen=True, slots=True)
class _ByPosition:
    pattern: str
    matcher: Matcher

    @property
    def memory(self) -> int:
        return self.matcher.memory

    @property
    def compiling(self) -> int:
        return self.matcher.size * _NODE

    def calls(self, text: str, limits: Limits) -> int:
        return min(len(text) * self.matcher.size, limits.regex_slow_steps) // _SLOW_STEPS

    def found(self, text: str, limits: Limits) -> bool:
        try:
            return self.matcher.found(text, limits.regex_slow_steps)
        except TooManyStepsError:
            raise _limit_error(self.pattern, "regex_slow_steps", limits.regex_slow_steps) from None


class _Kept:
    """The patterns that were used last, as many as fit into the memory for them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: OrderedDict[tuple[str, int], _Ready] = OrderedDict()
        self.memory = 0

    def get(self, key: tuple[str, int]) -> _Ready | None:
        with self._lock:
            found = self._of.get(key)
            if found is not None:
                self._of.move_to_end(key)
            return found

    def add(self, key: tuple[str, int], ready: _Ready) -> None:
        with self._lock:
            if key not in self._of:
                self._of[key] = ready
                self.memory += ready.memory
            while self.memory > _KEPT_BYTES:
                _, dropped = self._of.popitem(last=False)
                self.memory -= dropped.memory

    def clear(self) -> None:
        with self._lock:
            self._of.clear()
            self.memory = 0


_KEPT = _Kept()


def _ready(pattern: str, limits: Limits) -> _Ready:
    key = (pattern, limits.regex_size)
    found = _KEPT.get(key)
    if found is None:
        found = _prepared(pattern, limits)
        _KEPT.add(key, found)
    return found


def _prepared(pattern: str, limits: Limits) -> _Ready:
    try:
        tree = parse(clean_string(pattern))
    except UnsupportedError as error:
        raise ExpressionError(
            f"Unsupported pattern: {error}.",
            expression="regex",
            unsupported=error.feature,
            pattern=pattern[:100],
        ) from error
    except PatternError as error:
        raise ExpressionError(
            f"Invalid pattern: {error}.", expression="regex", pattern=pattern[:100]
        ) from error
    if tree.size > limits.regex_size:
        raise _limit_error(pattern, "regex_size", limits.regex_size, tree.size)
    linear = write(tree)
    if linear is not None and (ready := _in_re2(pattern, linear)):
        return ready
    return _by_position(pattern, tree, limits)


def _in_re2(pattern: str, linear: Linear) -> _InRe2 | None:
    """None where re2 has no memory for it."""
    if linear.instructions > _MOST_INSTRUCTIONS:
        return None
    memory = _SMALL_BYTES if linear.weight <= _SMALL_WEIGHT else _MOST_BYTES
    try:
        return _InRe2(pattern, compiled(linear.text, memory), linear, memory)
    except re2.error:
        return None


def _by_position(pattern: str, tree: Node, limits: Limits) -> _ByPosition:
    allowed = min(limits.regex_size, _SLOW_SIZE)
    if tree.size > allowed:
        raise _limit_error(pattern, "regex_size", allowed, tree.size)
    try:
        return _ByPosition(pattern, Matcher(tree))
    except TooLargeError:
        raise _limit_error(pattern, "regex_size", allowed) from None


def _limit_error(pattern: str, limit: str, allowed: int, got: int | None = None) -> ExpressionError:
    # Counts multiply: what they come to may be no number that JSON can hold.
    facts = {} if got is None else {"got": min(got, _MOST_TOLD)}
    return ExpressionError(
        f"The pattern or the text goes beyond the limit {limit} of {allowed}.",
        expression="regex",
        code="budget_exceeded",
        limit=limit,
        allowed=allowed,
        pattern=pattern[:100],
        **facts,
    )
